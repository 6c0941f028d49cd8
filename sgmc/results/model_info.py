"""What a result knows of its model."""


class ModelInfo:
    """What a result keeps of its model: names, formula and the recipe of the design, not the data."""

    def __init__(self, model):
        data = model.data
        self.kind, self.family, self.options = type(model), model.family, model.options
        self.family_name, self.title = model.family.name, model.family.title
        self.formula, self.spec, self.levels, self.inputs = model.formula, model.spec, model.levels, named(model.inputs)
        self.endog_names, self.exog_names = data.endog_name, list(data.names)
        self.equations = max(len(data.equations), 1)
        self.df_model = self.equations * (data.d - (data.intercept is not None))
        self.given, self.dropped, self.notes = data.given, data.dropped, data.notes

    @property
    def kinds(self):
        """Labels of the outcome's kinds, for families of several."""
        return list(self.levels)


def named(inputs):
    """Column names and the like as they are; True in the place of arrays and functions, which are left behind with the data."""
    return {key: value if value is None or isinstance(value, str) else True for key, value in inputs.items()}
