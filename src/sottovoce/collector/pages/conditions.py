"""What a browser says of how it wants a file: whether it takes gzip, and which version it has already."""

from __future__ import annotations

__all__ = ["has_already", "takes_gzip"]


def takes_gzip(accept_encoding: str) -> bool:
    """Whether an Accept-Encoding header allows gzip; a weight of 0 forbids it, and an unreadable one too.

    Examples
    --------
    >>> takes_gzip("gzip, br"), takes_gzip("*;q=0.5"), takes_gzip("gzip;q=0, *"), takes_gzip("")
    (True, True, False, False)
    """
    weights: dict[str, float] = {}
    for part in accept_encoding.lower().split(","):
        coding, *parameters = (word.strip() for word in part.split(";"))
        weights.setdefault("gzip" if coding == "x-gzip" else coding, _weight(parameters))
    return weights.get("gzip", weights.get("*", 0.0)) > 0


def _weight(parameters: list[str]) -> float:
    if not parameters:
        return 1.0
    name, _, value = parameters[0].partition("=")
    readable = name.strip() == "q" and value[:1] in ("0", "1") and value.replace(".", "", 1).isdecimal()
    return float(value) if readable and value.isascii() else 0.0


def has_already(if_none_match: str, etag: str) -> bool:
    """Whether an If-None-Match header names this version; weak names count, as RFC 9110 says of GET.

    Examples
    --------
    >>> has_already('W/"a", "b"', '"b"'), has_already('W/"a"', '"a"'), has_already("*", '"a"'), has_already("", '"a"')
    (True, True, True, False)
    """
    named = [one.strip().removeprefix("W/") for one in if_none_match.split(",")]
    return named == ["*"] or etag in named
