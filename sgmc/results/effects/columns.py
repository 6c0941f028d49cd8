"""Variables that enter the linear predictor by one column of the design and by nothing else."""

from sgmc.results.effects.places import recipe_of, smooths_of


def own_column(results, name):
    """The column of the design that is the variable itself, times nothing, where no other part of
    the linear predictor depends on it; else None.
    """
    recipe = recipe_of(results)
    if recipe is None:
        return results.model.exog_names.index(name)
    using = [one for one in recipe.factors if name in one.inputs.values()]
    curves = any(name in one.columns for one in smooths_of(results))
    offset = recipe.offset is not None and name in recipe.offset.inputs.values()
    if curves or offset or len(using) != 1:
        return None
    (factor,) = using
    if not factor.is_column or factor.levels is not None:
        return None
    members, alone = recipe.numbers
    found = [j for j, one in enumerate(members) if factor in [part for part, _ in one]]
    return found[0] if len(found) == 1 and alone[found[0]] else None
