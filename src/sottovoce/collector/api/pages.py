"""The pages and their files: the survey page for people, the dashboard for analysts.

Their addresses are no part of the OpenAPI document, which is for programs, and have no line in the log: a log of the
moments at which people opened a survey would be finer than the coarse time that the collector keeps.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Final

from litestar.handlers import HTTPRouteHandler

from sottovoce.collector.api.answer import Answer
from sottovoce.collector.api.route import QUIET, AnyRequest, template_of
from sottovoce.collector.failures import Refused
from sottovoce.collector.pages.conditions import has_already, takes_gzip
from sottovoce.collector.pages.files import PAGES, File

__all__ = ["FILES", "PAGE_HEADERS", "PAGE_TEMPLATES", "ROUTES"]

FILES: Final = "files"
"""Under which name the application's state holds the files."""

PAGE_HEADERS: Final = {
    "Content-Security-Policy": (
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
"""What a page has beyond the headers of every answer, its own Content-Security-Policy instead of theirs."""

_KEEP_FILE: Final = "no-cache"
"""Kept by browsers, and asked for before every use: a page and its script are always of one build."""

_KEEP_PAGE: Final = "no-store"
"""Kept by nobody, also not behind the Back button, where an answer or an estimate would be seen by who comes next."""


def _page(*paths: str, name: str) -> Callable[[Callable[[AnyRequest], Awaitable[Answer]]], HTTPRouteHandler]:
    return HTTPRouteHandler(
        list(paths), http_method=["GET", "HEAD"], name=name, status_code=200, include_in_schema=False, opt={QUIET: True}
    )


@_page("/", "/new", "/plan", "/survey/{survey_id:str}", name="dashboard_page")
async def dashboard_page(request: AnyRequest) -> Answer:
    return _sent(request, _files(request)["dashboard.html"], _KEEP_PAGE)


@_page("/s/{survey_id:str}", name="survey_page")
async def survey_page(request: AnyRequest) -> Answer:
    return _sent(request, _files(request)["survey.html"], _KEEP_PAGE)


@_page("/assets/{name:str}", name="asset")
async def asset(request: AnyRequest) -> Answer:
    name = request.path_params["name"]
    file = None if name in PAGES else _files(request).get(name)
    if file is None:
        raise Refused(404, "unknown_file", "the pages have no file of that name; open / or /s/ and a survey's id")
    return _sent(request, file, _KEEP_FILE, {"Cross-Origin-Resource-Policy": "same-origin"})


def _files(request: AnyRequest) -> Mapping[str, File]:
    found: Mapping[str, File] = request.app.state[FILES]
    return found


def _sent(request: AnyRequest, file: File, keep: str, headers: Mapping[str, str] | None = None) -> Answer:
    """The file as this browser wants it, or word that it has it already."""
    packed = file.packed if takes_gzip(_header(request, "accept-encoding")) else None
    form = packed or file.plain
    told = {"ETag": form.etag, "Vary": "Accept-Encoding", **(headers or {})}
    if has_already(_header(request, "if-none-match"), form.etag):
        return _unchanged(told, keep)
    if packed is not None:
        told["Content-Encoding"] = "gzip"
    return Answer(form.body, file.media_type, 200, told, keep=keep)


def _unchanged(told: Mapping[str, str], keep: str) -> Answer:
    answer = Answer(b"", status=304, headers=told, keep=keep)
    # Nothing is sent, so that nothing is said of its kind and length.
    answer.headers = [one for one in answer.headers if one[0] not in (b"content-type", b"content-length")]
    return answer


def _header(request: AnyRequest, name: str) -> str:
    return ", ".join(request.headers.getall(name, []))


ROUTES: Final = (dashboard_page, survey_page, asset)

PAGE_TEMPLATES: Final = frozenset(template_of(path) for page in (dashboard_page, survey_page) for path in page.paths)
"""Addresses of pages, as the framework writes them."""
