"""Which settings a stored result was made with: a hash of the constants of its script.

Numbers, truth values and single words count, wherever they stand, the criteria of claims among
them.  Prose, comments, what is drawn or printed, and values of the fast mode do not.  Constants of
the functions that a script imports from ``tools.py`` count as its own.
"""

import ast
import hashlib

SHOWING = frozenset(
    """
    axhline axhspan axline axvline bar colorbar contour figure fill_between hist hist2d legend
    loglog note pcolormesh plot semilogx semilogy set set_title set_xlabel set_xscale set_xticks
    set_ylabel set_yscale subplot_mosaic subplots supylabel text ticklabel_format to_string
    """.split()
)


def is_showing(node):
    """Whether a call draws or prints."""
    if not isinstance(node, ast.Call):
        return False
    called = node.func
    return (isinstance(called, ast.Attribute) and called.attr in SHOWING) or (
        isinstance(called, ast.Name) and called.id == "print"
    )


def constants(node):
    """Constants below a node of a syntax tree that determine numbers, in their order."""
    if isinstance(node, ast.JoinedStr) or is_showing(node):
        return
    if isinstance(node, ast.Constant):
        if not isinstance(node.value, str) or len(node.value.split()) == 1:
            yield repr(node.value)
        return
    below = list(ast.iter_child_nodes(node))
    # of story.pick(full, fast) the second is not what stored results are made with
    if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "pick":
        below = [child for child in below if child is not node.args[1]]
    for child in below:
        yield from constants(child)


def imported(tree, module):
    """Names that a script imports from a module beside it."""
    return [
        name.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module == module
        for name in node.names
    ]


def definitions(tree):
    """Name -> the statement that defines it, at the top of a module."""
    found = {}
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else [node]
        found |= {getattr(t, "id", getattr(t, "name", "")): node for t in targets}
    return found


def used(names, defined):
    """The names and those that their definitions use, in alphabetical order."""
    known, waiting = set(), list(names)
    while waiting:
        name = waiting.pop()
        if name in defined and name not in known:
            known.add(name)
            waiting += [n.id for n in ast.walk(defined[name]) if isinstance(n, ast.Name)]
    return sorted(known)


def stamp(name, folder):
    """The hash of a vignette's settings.

    Parameters
    ----------
    name : str
        Of the vignette, as in ``sgld-ica``.
    folder : pathlib.Path
        That of the scripts.

    Returns
    -------
    str
        16 hexadecimal digits.
    """
    checks = folder / "checks" / f"{name.replace('-', '_')}.py"
    tools = definitions(ast.parse((folder / "tools.py").read_text()))
    parts = []
    for path in (folder / f"{name}.py", checks):
        if path.exists():
            tree = ast.parse(path.read_text())
            parts += [tree, *(tools[name] for name in used(imported(tree, "tools"), tools))]
    found = [value for part in parts for value in constants(part)]
    return hashlib.sha256("\n".join(found).encode()).hexdigest()[:16]
