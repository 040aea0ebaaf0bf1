"""The page for reviewers: what a survey promises, to whom, on what grounds, and what it does not."""

from sottovoce.disclosure.about import About
from sottovoce.disclosure.claim import Chapter, Claim
from sottovoce.disclosure.disclosure import Disclosure
from sottovoce.disclosure.unread import UnreadSurvey, read_survey
from sottovoce.disclosure.versions import PlaceInLog
from sottovoce.disclosure.writing import disclose

__all__ = ["About", "Chapter", "Claim", "Disclosure", "PlaceInLog", "UnreadSurvey", "disclose", "read_survey"]
