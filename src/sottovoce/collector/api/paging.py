"""Long lists in pages: which there are."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from sottovoce.service.refusal import Refusal

__all__ = ["Page", "check_page"]

Page = Annotated[int, Meta(ge=1, le=2**53, description="which page, from 1")]


def check_page(page: int, n: int, size: int) -> int:
    """How many pages of `size` there are, at least one; a refusal that names the last where `page` is beyond it.

    Examples
    --------
    >>> check_page(1, 0, 1000), check_page(2, 1001, 1000)
    (1, 2)
    """
    pages = max(1, -(-n // size))
    if page > pages:
        message = f"there is no page {page:,}: the last of these pages, of {size:,} each, is page {pages:,}"
        raise Refusal(404, "no_such_page", message, field="page")
    return pages
