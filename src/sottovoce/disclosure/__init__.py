"""The page for reviewers: what a survey promises, to whom, on what grounds, and what it does not."""

from sottovoce.disclosure.about import About
from sottovoce.disclosure.asked import PlaceInLog
from sottovoce.disclosure.brief import UnreadSurvey, read_survey
from sottovoce.disclosure.claim import Chapter, Claim
from sottovoce.disclosure.disclosure import Disclosure, disclose

__all__ = ["About", "Chapter", "Claim", "Disclosure", "PlaceInLog", "UnreadSurvey", "disclose", "read_survey"]
