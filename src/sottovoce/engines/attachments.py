"""Attachments of a survey in files beside its JSON or its reports, each named by its digest."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from sottovoce.core.addresses import is_address
from sottovoce.core.errors import SurveyError
from sottovoce.engines.remote import opened, status
from sottovoce.surveys.statement import MAX_SURVEY_BYTES, is_digest

__all__ = ["AttachmentFiles", "folders_of"]

_SHOWN: Final = 5


class AttachmentFiles(Mapping[str, bytes]):
    """What a survey names by digest, read from folders when it is asked for; the survey checks the content."""

    def __init__(self, folders: Iterable[str]) -> None:
        self._folders = folders

    def __getitem__(self, digest: str) -> bytes:
        if not is_digest(digest):  # it becomes part of a path
            raise SurveyError("the survey's attachment must be named by a SHA-256: 64 hexadecimal digits in lower case")
        tried = list(dict.fromkeys(self._folders))
        for folder in tried:
            place = _inside(folder, digest)
            try:
                about = status(place)
                if not about.regular:
                    continue
                with opened(place) as file:
                    content = file.read(MAX_SURVEY_BYTES + 1)
            except FileNotFoundError:
                continue
            except OSError as error:
                reason = error.strerror or "the system refuses"
                raise SurveyError(f"the survey's attachment {place!r} cannot be read: {reason}") from error
            if len(content) > MAX_SURVEY_BYTES:
                raise SurveyError(f"the survey's attachment {place!r} is longer than {MAX_SURVEY_BYTES:,} bytes")
            return content
        looked = ", ".join(repr(folder) for folder in tried[:_SHOWN])
        more = f" and {len(tried) - _SHOWN} more" if len(tried) > _SHOWN else ""
        raise SurveyError(
            f"the survey's attachment {digest} is missing: there is no file of that name in {looked}{more}; put it "
            f"there, from an export of the survey or from /v1/attachments/{digest} of its collector"
        )

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


def folders_of(names: Sequence[str]) -> Iterator[str]:
    """The folders of files, each once."""
    return iter(dict.fromkeys(_folder(name) for name in names))


def _folder(name: str) -> str:
    return name.rpartition("/")[0] if is_address(name) else os.path.dirname(name) or "."


def _inside(folder: str, name: str) -> str:
    return f"{folder}/{name}" if is_address(folder) else os.path.join(folder, name)
