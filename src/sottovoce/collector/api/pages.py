"""The pages and their files: the survey page for people, the dashboard for analysts, the element for other pages.

Their addresses are not part of the OpenAPI document, which is for programs, and have no line in the log: a log of the
moments at which people opened a survey would be finer than the coarse time that the collector keeps.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

from sottovoce.collector.api.service import Service
from sottovoce.collector.pages.files import ELEMENT, PAGES, File, script_name
from sottovoce.core.errors import StoreUnavailableError
from sottovoce.service.http.request import Request
from sottovoce.service.http.response import Response
from sottovoce.service.http.route import route
from sottovoce.service.refusal import Refusal
from sottovoce.surveys.panel import Panel

__all__ = ["PAGE_HEADERS", "ROUTES", "has_already", "takes_gzip"]


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
    named = [tag.strip().removeprefix("W/") for tag in if_none_match.split(",")]
    return named == ["*"] or etag in named


_POLICY: Final = "Content-Security-Policy"

PAGE_HEADERS: Final = {
    _POLICY: (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; "
        "trusted-types 'none'"
    ),
    "Permissions-Policy": (
        "accelerometer=(), autoplay=(), camera=(), display-capture=(), encrypted-media=(), fullscreen=(), "
        "geolocation=(), gyroscope=(), hid=(), idle-detection=(), local-fonts=(), magnetometer=(), microphone=(), "
        "midi=(), payment=(), picture-in-picture=(), publickey-credentials-get=(), screen-wake-lock=(), serial=(), "
        "usb=(), xr-spatial-tracking=()"
    ),
    "Cross-Origin-Resource-Policy": "same-origin",
}
"""What a page has beyond the headers of every answer, its own Content-Security-Policy instead of theirs.

The page of a survey that states a relay may also connect to that.
"""

_KEEP_FILE: Final = "no-cache"
"""Browsers keep it, and ask before every use: a page and its script are always of one build."""

_KEEP_PAGE: Final = "no-store"
"""Nobody keeps it, not even behind the Back button, where the next person would see an answer or an estimate."""


_KEEP_SCRIPT: Final = "public, max-age=31536000, immutable"
"""Browsers keep it for a year and never ask again: its name changes with its content."""

_FOR_ALL_PAGES: Final = {"Access-Control-Allow-Origin": "*", "Cross-Origin-Resource-Policy": "cross-origin"}
"""A browser checks the integrity of another origin's script only if that origin lets every page read it."""


@route("GET HEAD", "/", "/new", "/plan", "/survey/{survey_id}", is_page=True, page_headers=PAGE_HEADERS)
async def dashboard_page(request: Request, survey_id: str = "") -> Response:
    return _sent(request, request.service.files["dashboard.html"], _KEEP_PAGE)


@route("GET HEAD", "/s/{survey_id}", is_page=True, page_headers=PAGE_HEADERS)
async def survey_page(request: Request, survey_id: str) -> Response:
    service = request.service
    try:
        headers = await service.wait_for_store(_relay_policy, service, survey_id)
    except (Refusal, StoreUnavailableError):
        headers = {}  # the page itself tells people what is the matter
    return _sent(request, service.files["survey.html"], _KEEP_PAGE, headers)


@route("GET HEAD", "/assets/{name}", is_page=True)
async def asset(request: Request, name: str) -> Response:
    file = None if name in (*PAGES, ELEMENT) else request.service.files.get(name)
    if file is None:
        raise Refusal(404, "unknown_file", "the pages have no file of that name; open / or /s/ and a survey's id")
    return _sent(request, file, _KEEP_FILE, {"Cross-Origin-Resource-Policy": "same-origin"})


@route("GET HEAD", "/embed/{name}", is_page=True)
async def element_script(request: Request, name: str) -> Response:
    file = request.service.files[ELEMENT]
    if name != script_name(file.plain.body):
        message = "this collector has no script of that name: 'sottovoce survey embed' prints the present one"
        raise Refusal(404, "unknown_file", message, headers=_FOR_ALL_PAGES)
    return _sent(request, file, _KEEP_SCRIPT, _FOR_ALL_PAGES)


def _relay_policy(service: Service, survey_id: str) -> dict[str, str]:
    """The policy of a survey's page, if that must connect to a relay."""
    survey = service.survey(service.record(survey_id))
    if isinstance(survey, Panel) or survey.relay is None:
        return {}
    scheme, host, *_ = urlsplit(survey.relay.url)
    own = "connect-src 'self'"
    return {_POLICY: PAGE_HEADERS[_POLICY].replace(own, f"{own} {scheme}://{host}")}


def _sent(request: Request, file: File, cache: str, headers: Mapping[str, str] | None = None) -> Response:
    """The file in a form that this browser accepts, or 304 where it has it already."""
    packed = file.packed if takes_gzip(request.header(b"accept-encoding") or "") else None
    form = packed or file.plain
    all_headers = {"ETag": form.etag, "Vary": "Accept-Encoding", **(headers or {})}
    if has_already(request.header(b"if-none-match") or "", form.etag):
        return Response(b"", status=304, headers=all_headers, cache=cache)
    if packed is not None:
        all_headers["Content-Encoding"] = "gzip"
    return Response(form.body, file.media_type, 200, all_headers, cache=cache)


ROUTES: Final = (dashboard_page, survey_page, asset, element_script)
