"""Reads a domain from JSON, strictly: every domain has one canonical form."""

from __future__ import annotations

from sottovoce.core.errors import DomainError
from sottovoce.domain.base import Domain
from sottovoce.domain.integers import integer_from_json
from sottovoce.domain.labels import LabelDomain
from sottovoce.domain.product import ProductDomain
from sottovoce.domain.ranges import RangeDomain
from sottovoce.domain.text import TextDomain

__all__ = ["domain_from_statement"]


def domain_from_statement(statement: object) -> Domain:
    """The domain that `to_statement` wrote; anything else raises `DomainError`."""
    match statement:
        case {"labels": list(names), **rest} if not rest:
            return LabelDomain(tuple(names))
        case {"labels": list(names), "missing": str(missing) | int(missing), **rest} if not rest:
            return LabelDomain(tuple(names), missing)
        case {"start": start, "step": step, "size": size, **rest} if not rest:
            return RangeDomain(integer_from_json(start), integer_from_json(step), integer_from_json(size))
        case {"start": start, "step": step, "size": size, "missing": missing, **rest} if not rest:
            return RangeDomain(*map(integer_from_json, (start, step, size, missing)))
        case {"alphabet": str(alphabet), "length": int(length), **rest} if not rest:
            return TextDomain(alphabet, length)
        case {"attributes": list(attributes), **rest} if not rest:
            return ProductDomain(tuple(_attribute(a) for a in attributes))
        case _:
            raise DomainError(
                "the survey's domain must hold labels, or start, step and size, or alphabet and length, or attributes"
            )


def _attribute(statement: object) -> tuple[str, Domain]:
    match statement:
        case {"name": str(name), "domain": dict(domain), **rest} if not rest:
            if "attributes" in domain:  # before recursing: deep nesting must not exhaust the stack
                raise DomainError(f"attribute {name!r} is itself a product; state its attributes directly").at("domain")
            return name, domain_from_statement(domain)
        case _:
            raise DomainError("every attribute of the survey's domain must hold exactly a name and a domain")
