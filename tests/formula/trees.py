"""The terms of formulas that are trees, see `reference`."""


def expanded(tree, dot):
    """Whether there is an intercept, and the terms: tuples of factors, each once."""
    intercept, terms = True, []
    for sign, part in summands(tree):
        if part[0] in "01":
            intercept = (part[0] == "1") == (sign == "+")
        elif part[0] != "offset":
            found = terms_of(part, dot)
            sets = [frozenset(term) for term in found]
            if sign == "+":
                terms = once(terms + found)
            else:
                terms = [term for term in terms if frozenset(term) not in sets]
    return intercept, terms


def summands(tree):
    """Pairs of a sign and a part of the sum at the top."""
    if tree[0] in "+-":
        return [*summands(tree[1]), (tree[0], tree[2])]
    return [("+", tree)]


def terms_of(tree, dot):
    """Terms of a tree without intercept."""
    head = tree[0]
    if head == "dot":
        return [(("column", name),) for name in dot]
    if head not in ("+", "-", ":", "*", "/", "**"):
        return [(tree,)]
    left = terms_of(tree[1], dot)
    if head == "**":
        found, power = left, left
        for _ in range(tree[2] - 1):
            power = products(left, power)
            found = once(found + power)
        return found
    right = terms_of(tree[2], dot)
    if head == "+":
        return once(left + right)
    if head == "-":
        sets = [frozenset(term) for term in right]
        return [term for term in left if frozenset(term) not in sets]
    if head == ":":
        return products(left, right)
    if head == "*":
        return once(left + right + products(left, right))
    whole = tuple(dict.fromkeys(factor for term in left for factor in term))
    return once(left + products([whole], right))


def products(left, right):
    """The interactions of each with each."""
    return once([tuple(dict.fromkeys(a + b)) for a in left for b in right])


def once(terms):
    """Terms without those that were there before in any order of factors."""
    seen = {}
    for term in terms:
        seen.setdefault(frozenset(term), term)
    return list(seen.values())
