"""An estimate of records, which gives tables of their attributes and means of their numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, final, overload

from sottovoce.core.answer import Answer, nearest_label
from sottovoce.core.calls import with_clear_calls
from sottovoce.core.errors import SurveyError
from sottovoce.estimates.form_relation import FormRelation
from sottovoce.estimates.line import Line
from sottovoce.estimates.listed import ListedEstimate
from sottovoce.estimates.population import Margins
from sottovoce.estimates.synthetic import FormTables, Synthetic, no_tables, synthesized
from sottovoce.estimates.tables import ShareTable
from sottovoce.estimates.weighed_fields import weighted_by_fields
from sottovoce.estimates.weighted import Method, Weighted

__all__ = ["TableEstimate"]


@final
@dataclass(frozen=True, eq=False, repr=False)
class TableEstimate(ListedEstimate):
    """An estimate from which tables of attributes follow."""

    describes: ClassVar[str] = "tables of attributes"

    def table(self, *names: str) -> ShareTable:
        """The table of these attributes; its parts can be summed and compared, see `ShareTable`."""
        if not names or not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
            raise SurveyError(
                "names must be the attributes of the table one by one, each once, for example table('country', 'plan')"
            ).at("names")
        for name in names:
            self._check_attribute(name)
        selection = self.survey.design.workload.table_cells(names)
        if selection is None:
            raise SurveyError(
                f"this survey did not ask for a table of {', '.join(map(repr, names))}: it needs records with tables "
                f"of {len(names)} or more, or workload 'marginals' with such a k, or the distribution over all "
                "attributes"
            ).at("names")
        inner = dict(selection.attributes)
        return ShareTable(
            self._combinable, names, tuple(inner[name] for name in names), selection.cells, selection.scale
        )

    def _weighed(self, margins: Margins, answers: list[Any] | None, level: float, method: Method | None) -> Weighted:
        """By private fields where any is named, and else by public groups."""
        public = [] if self.groups is None else self.groups.groups.names
        if {*margins} <= {*public} or not self.survey.question.field_names:
            return super()._weighed(margins, answers, level, method)
        return weighted_by_fields(self, margins, answers, level, method)

    @with_clear_calls('estimate.correlation("age", "minutes")')
    def correlation(self, first: str, second: str, level: float = 0.95) -> Answer:
        """The correlation of two numbers of a form, or of a number and a value of a list such as "plan=pro".

        From the form's tables of pairs. A number needs 5 grid points or more, better 7: `number(18, 90, points=7)`.
        What rounding to grid points adds to its spread is taken off.
        """
        fields = self._attribute_of(first, "first"), self._attribute_of(second, "second")
        if fields[0] == fields[1]:
            raise SurveyError("first and second must be different attributes").at("second")
        return FormRelation(self, fields).correlation(first, second, level)

    @with_clear_calls('estimate.regression("minutes", on=["age"])')
    def regression(self, outcome: str, on: str | Sequence[str]) -> Line:
        """The line of least squares of an attribute on others, from the tables of a form; see `correlation`.

        Parameters
        ----------
        outcome
            A number, or a list of two values.
        on
            Attributes, one or several in a list. The values of a list are compared with its first one.

        Examples
        --------
        >>> import numpy as np, sottovoce as sv
        >>> fields = {"age": sv.number(18, 90, points=7), "minutes": sv.number(0, 600, "minutes", points=7)}
        >>> survey = sv.Survey(sv.records(fields), epsilon=4.0)
        >>> rng = np.random.default_rng(1)
        >>> age = rng.normal(54, 12, 100_000)
        >>> people = {"age": age, "minutes": 300 - 4 * (age - 54) + rng.normal(0, 80, 100_000)}
        >>> estimate = survey.estimate(survey.simulate_aggregate(people, seed=1))
        >>> print(estimate.regression("minutes", on="age").slope("age"))  # the truth is -4
        age: -4... minutes per age (-4... to -3...)
        """
        named = [on] if isinstance(on, str) else list(on) if isinstance(on, (list, tuple)) else []
        if not named or not all(isinstance(name, str) for name in named) or len(set(named)) < len(named):
            raise SurveyError('on must name different attributes, for example on=["age", "plan"]').at("on")
        regressors = [self._attribute_of(name, "on") for name in named]
        target = self._attribute_of(outcome, "outcome")
        if target in regressors:
            raise SurveyError(f"the outcome {target!r} is among the regressors; leave it out there").at("on")
        size = self.table(target).axes[0].size
        if self.survey.design.workload.number_field(target) is None and size != 2:
            raise SurveyError(
                f"the outcome {target!r} has {size} values; it must be a number, or a list of two values"
            ).at("outcome")
        return FormRelation(self, (*dict.fromkeys(regressors), target)).line(named)

    def _attribute_of(self, name: object, argument: str) -> str:
        """The attribute of a name such as "age" or "plan=pro"."""
        known = self.survey.question.field_names
        attribute = name if name in known else str(name).partition("=")[0]
        if attribute not in known:
            nearest = nearest_label(name, known) if isinstance(name, str) else None
            remedy = f"there are {', '.join(known)}" if nearest is None else f"did you mean {nearest!r}?"
            raise SurveyError(f"{argument} must name an attribute of the form; {remedy}").at(argument)
        return str(attribute)

    @with_clear_calls("estimate.synthesize(1000, seed=1)")
    def synthesize(self, n: int, seed: int) -> Synthetic:
        """Made-up records that agree with the estimated tables: a DataFrame for tests, examples and exploring.

        They come from the distribution of largest entropy with these tables where all records can be listed, else from
        one near it; numbers lie between grid points. Nothing but the estimate is used, so epsilon stays what it is.
        What no table says, such as how three attributes of a form of pairs go together, they do not know either.

        Parameters
        ----------
        n
            How many records; up to a million.
        seed
            The same seed gives the same records.

        Examples
        --------
        >>> import sottovoce as sv
        >>> survey = sv.Survey(sv.records({"plan": ["free", "pro"], "age": range(18, 22)}), epsilon=4.0)
        >>> people = [{"plan": "free", "age": 18}, {"plan": "pro", "age": 21}] * 20_000
        >>> made_up = survey.estimate(survey.simulate(people, seed=1)).synthesize(1000, seed=1)
        >>> print(made_up)
        1,000 made-up records, nobody's: drawn to agree with tables that were estimated from 40,000 reports; ...
        attributes alone: 0... % of people off the estimate on average, ... % at most
        pairs: 0... % of people off the estimate on average, ... % at most
        """
        return synthesized(self._form_tables, n, seed, self.epsilon, self.delta, self.n_reports)

    @property
    def _form_tables(self) -> FormTables:
        names, workload = self.survey.question.field_names, self.survey.design.workload
        known = [order for order in range(1, len(names) + 1) if workload.table_cells(names[:order]) is not None]
        if not known:
            raise no_tables()
        return FormTables(
            names,
            tuple(self.table(name).axes[0] for name in names),
            tuple(workload.number_field(name) for name in names),
            max(known),
            lambda chosen: self.table(*chosen).values,
        )

    def _lacking(self) -> set[str]:
        workload = self.survey.design.workload
        has_numbers = any(workload.number_field(name) is not None for name in self.survey.question.field_names)
        return super()._lacking() | (set() if has_numbers else {"mean"})

    def _check_attribute(self, name: str) -> None:
        known = self.survey.question.field_names
        if known and name not in known:
            nearest = nearest_label(name, known)
            remedy = f"the attributes are {', '.join(known)}" if nearest is None else f"did you mean {nearest!r}?"
            raise SurveyError(f"no attribute is named {name!r}; {remedy}").at("names")

    @overload
    def mean(self, field: str, *, by: None = None, level: float = 0.95) -> Answer: ...

    @overload
    def mean(self, field: str, *, by: str | Sequence[str], level: float = 0.95) -> list[Answer]: ...

    @with_clear_calls('estimate.mean("minutes", by="country")')
    def mean(
        self, field: str = "", *, by: str | Sequence[str] | None = None, level: float = 0.95
    ) -> Answer | list[Answer]:
        """The mean of a number of records, in its unit, with its interval; or one mean for every group.

        The numbers are clipped to the survey's ends.

        Parameters
        ----------
        field
            The name of a number.
        by
            An attribute, or several: the mean among the people with each of its values, in their order. The survey must
            have asked for the tables of the number with them.

        Examples
        --------
        >>> import sottovoce as sv
        >>> fields = {"plan": ["free", "pro"], "minutes": sv.number(0, 60, "minutes")}
        >>> survey = sv.Survey(sv.records(fields, tables=2), epsilon=4.0)
        >>> people = [{"plan": "free", "minutes": 15.0}, {"plan": "pro", "minutes": 45.0}] * 50_000
        >>> for answer in survey.estimate(survey.simulate(people, seed=1)).mean("minutes", by="plan"):
        ...     print(answer.label, round(answer.value))
        plan=free 15
        plan=pro 45
        """
        if not isinstance(field, str) or not field:
            raise SurveyError("field must be the name of a number of the records, for example mean('minutes')").at(
                "field"
            )
        if by is None:
            return self.table(field).mean(field, level=level)
        if not isinstance(by, (str, list, tuple)) or not by:
            raise SurveyError("by must name an attribute, or several in a list, for example by='plan'").at("by")
        groups = (by,) if isinstance(by, str) else tuple(by)
        if field in groups:
            raise SurveyError("by must name other attributes than the number whose mean is asked for").at("by")
        try:
            table = self.table(field, *groups)
        except SurveyError as error:
            error.at("by")
            raise
        return table.group_means(field, level)
