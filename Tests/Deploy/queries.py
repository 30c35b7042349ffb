"""Examines PromQL: the metrics that an expression names, and whether they have the labels that it asks for."""

import promql_parser as promql


class Unknown(Exception):
    """An expression names a metric that no worker exports."""


def parse(query):
    try:
        return promql.parse(query)
    except ValueError as error:
        raise Unknown(f"is no PromQL: {error}") from None


def selectors(expression):
    """All selectors of an expression: a metric's name, and its matchers."""
    found = []

    def visit(node):
        if isinstance(node, promql.VectorSelector):
            found.append((node.name, [(m.name, m.op, m.value) for m in node.matchers.matchers]))

    promql.walk(expression, visit)
    return found


def labels(node, known):
    """The labels that the result may have; raises `Unknown` for a missing one."""
    if isinstance(node, promql.MatrixSelector):
        return labels(node.vector_selector, known)
    if isinstance(node, promql.VectorSelector):
        if node.name not in known:
            raise Unknown(f"names {node.name}, which nothing exports")
        require({m.name for m in node.matchers.matchers}, known[node.name], f"a matcher of {node.name}")
        return known[node.name]
    if isinstance(node, promql.AggregateExpr):
        inner = labels(node.expr, known)
        if node.modifier is None:
            return set()
        named = set(node.modifier.labels)
        require(named, inner, "an aggregation")
        return named if node.modifier.type == promql.AggModifierType.By else inner - named
    if isinstance(node, promql.BinaryExpr):
        left, right = labels(node.lhs, known), labels(node.rhs, known)
        matching = node.modifier and node.modifier.matching
        if matching is not None:
            require(set(matching.labels), left & right, "on() or ignoring()")
        return left | right if str(node.op) == "or" else left or right
    if isinstance(node, promql.Call):
        return set().union(*[labels(argument, known) for argument in node.args])
    if isinstance(node, (promql.ParenExpr, promql.UnaryExpr, promql.SubqueryExpr)):
        return labels(node.expr, known)
    return set()


def require(wanted, there, who):
    missing = wanted - there
    if missing:
        raise Unknown(f"has {', '.join(sorted(missing))} in {who}, a label that is not there")
