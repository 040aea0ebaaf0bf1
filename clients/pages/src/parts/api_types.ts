/** The service's JSON that devices do not use, from its OpenAPI document: run `npm run types` in clients/pages to write this file again. */
export type * from "../../../js/src/core/api_types.js";

/** One answer; null stands for a number that is not finite. */
export interface AnswerRow {
  label: string;
  value: number | null;
  raw: number | null;
  low: number | null;
  high: number | null;
  /** for words: whether people have it, but for the stated probability */
  certain?: boolean;
}

/** Answers side by side. */
export interface Bars {
  view: "bars";
  title: string;
  start: number;
  stop: number;
  shares: boolean;
}

/** What the expected error stays below, by the number of reports. */
export interface BoundCurveBody {
  n: number[];
  l2: number[];
  /** the largest margin of any answer (95 %) */
  margin: (number | null)[];
  statement: string;
}

/** The groups that a variable makes, side by side: the answers that the estimate of everybody shows first. */
export interface ByGroupBody {
  survey: string;
  /** the variable */
  by: string;
  /** the unit of the answers; empty for none */
  unit: string;
  /** whether the answers are shares of the people */
  share: boolean;
  level: number;
  /** whether intervals hold at every look together */
  always: boolean;
  /** why the intervals hold */
  method: string;
  n_answers: number;
  groups: GroupAnswers[];
}

/** Shares of the people up to each value of a line: a distribution function. `x` are the values. */
export interface Cdf {
  view: "cdf";
  title: string;
  start: number;
  stop: number;
  shares: boolean;
  x: (number | string)[];
}

/** The guarantee of the shuffled reports of one batch, beside that of one report. */
export interface CentralGuarantee {
  /** epsilon of one report by itself; it holds against any collusion */
  local_epsilon: number;
  /** proved epsilon of a batch of `least` honest answers */
  epsilon: number;
  /** lower bound: no smaller epsilon can be proved */
  lower: number;
  /** delta of the central guarantee */
  delta: number;
  /** people in the smallest batch */
  least: number;
  /** method of the proof: blanket, clones or local */
  method: string;
  /** assumption of the central guarantee */
  assumption: string;
  /** both guarantees in words, each with its assumption */
  promise: string;
  /** address of the relay that shuffles; null in a plan */
  relay?: string | null;
}

/** Two groups of one survey: the first less the second, answer by answer. */
export interface ComparisonBody {
  first: string;
  second: string;
  /** both groups in words */
  names: string[];
  reports: number[];
  epsilon: number[];
  delta: number[];
  unit: string;
  level: number;
  /** whether intervals and p-values hold at every look together */
  always: boolean;
  joint: JointTestBody;
  /** what it rests on */
  condition: string;
  differences: DifferenceRow[];
}

/** One answer of a tracking survey over its periods; `trend` is null where closed periods are few. */
export interface CurveBody {
  survey: string;
  title: string;
  kind: "tracking";
  question: string;
  answer: string;
  unit: string;
  share: boolean;
  epsilon: number;
  /** 0 where the promise is pure epsilon-LDP */
  delta: number;
  level: number;
  band_level: number;
  /** "population": intervals of open periods hold at every look together; null: at one look */
  always: string | null;
  method: string;
  points: CurvePointBody[];
  trend: TrendBody | null;
  smooth: SmoothBody | null;
  /** labels of the answers that can be followed; the first thousand where there are more */
  answers: string[];
  /** a curve for every group that the variable `by` makes */
  groups?: GroupCurveBody[];
  /** of the groups `first` and `second`, or of the first two; null where none can be compared */
  comparison?: CurveComparisonBody | null;
}

/** Two groups compared in every period. */
export interface CurveComparisonBody {
  survey: string;
  title: string;
  /** both groups in words */
  names: string[];
  answer: string;
  unit: string;
  share: boolean;
  epsilon: number;
  /** 0 where the promise is pure epsilon-LDP */
  delta: number;
  level: number;
  band_level: number;
  /** whether intervals of open periods hold at every look together */
  always: boolean;
  method: string;
  /** what it rests on */
  condition: string;
  points: PeriodDifferenceBody[];
}

/** One answer in one period; null where it has too few reports. The band is that of closed periods together. */
export interface CurvePointBody {
  period: number;
  label: string;
  /** its first day, as 2027-01-04 */
  starts: string;
  state: "closed" | "empty" | "open";
  /** behind the estimate; 0 where they are too few to be shown */
  n_reports: number;
  value: number | null;
  raw: number | null;
  low: number | null;
  high: number | null;
  band_low: number | null;
  band_high: number | null;
}

/** Default values; `level` is that of margins and intervals. */
export interface Defaults {
  people: number;
  max_report_bytes: number;
  max_counters: number;
  level: number;
}

/** The change of an answer from the earlier period to the later one. */
export interface DifferenceBody {
  later: number;
  earlier: number;
  answer: string;
  unit: string;
  share: boolean;
  value: number;
  raw: number;
  low: number;
  high: number;
  level: number;
  method: string;
}

/** An answer of the first group less that of the second, with its interval and its test. */
export interface DifferenceRow {
  label: string;
  first: number | null;
  second: number | null;
  value: number | null;
  raw: number | null;
  low: number | null;
  high: number | null;
  p_value: number | null;
  /** adjusted for the number of answers that are compared (Holm) */
  adjusted_p_value: number | null;
}

/** The fields of a form for a new survey. */
export interface Draft {
  /** a kind of /v1/questions */
  kind: string;
  /** parameters by name, as /v1/questions declares them: numbers, a list of labels, a range as an object of start and stop, attributes as an object of such lists and ranges (in records also of numbers, as objects of low, high, and optionally unit and points; an object may also have labels, and missing, what missing values count as), a workload as text */
  parameters?: Record<string, unknown>;
  people?: number | null;
  delta?: number | null;
  strategy?: string | null;
  mechanism?: string | null;
  criterion?: "l2" | "margin" | null;
  max_report_bytes?: number | null;
  max_counters?: number | null;
  epsilon: number;
  title?: string;
  /** periods of a tracking survey, by the names that /v1/questions declares under calendar; null for a survey that is asked once */
  calendar?: Record<string, unknown> | null;
  /** null for reports that are sent directly */
  relay?: RelayRequest | null;
  /** public variables and their values, sent in the open beside a report; null for none */
  groups?: Record<string, string[]> | null;
}

/** A survey that can be published: send `statement` and `attachments` to /v1/surveys. Nothing has been stored. */
export interface DraftAnswer {
  id: string;
  statement: string;
  attachments: Record<string, string>;
  /** null for a panel */
  strategy: string | null;
  mechanism: string;
  report_bytes: number;
  /** the number of people for which these errors are expected, in all periods */
  people: number;
  /** the largest margin of any answer (95 %); null for a panel */
  margin: number | null;
  /** the expected L2 error over all answers; null for a panel */
  l2: number | null;
  explanation: string;
  /** privacy of a tracking survey, per window and over its life; null for others */
  promise: string | null;
  /** guarantee of reports that go through a relay; null without one */
  central: CentralGuarantee | null;
  notes: string[];
}

/** The lines that show a survey in another page. */
export interface Embedding {
  /** HTML: the script with its integrity, and the element */
  snippet: string;
  /** the script's path at the collector; another one for every other content */
  script: string;
  /** the script's SHA-384, as a page states it */
  integrity: string;
  /** length of the script, not compressed */
  bytes: number;
  /** web origins whose pages may ask; * for all, none if empty */
  allow_origins: string[];
}

/** What the expected error stays below. */
export interface ErrorBound {
  l2: number | null;
  statement: string;
}

/** Answers with intervals; `waiting` more reports are durable and not yet counted. */
export interface EstimateBody {
  survey: string;
  title: string;
  kind: string;
  /** the unit of the answers; empty for none */
  unit: string;
  mechanism: string;
  epsilon: number;
  /** 0 where the promise is pure epsilon-LDP */
  delta: number;
  n_reports: number;
  bound: ErrorBound;
  raw_bound: ErrorBound;
  projection_gap: number;
  level: number;
  /** "population" or "so far": whom the intervals are about that hold at every look together; null for intervals of one look */
  always: string | null;
  /** why the intervals hold */
  method: string;
  /** how words were found; for surveys of words only */
  words?: WordsFound;
  /** number of answers, or of words found, on all pages together */
  n_answers: number;
  page: number;
  pages: number;
  answers: AnswerRow[];
  waiting: number;
  influence: InfluenceBody | null;
}

/** The cost if everybody answered in every period, with epsilon divided by the periods; null if no design serves. */
export interface EveryPeriodCost {
  /** epsilon of one answer */
  epsilon: number;
  /** margin of one period, with as many people as the plan has */
  margin: number | null;
  /** number of people that the plan's error would take */
  people: number | null;
  /** `people` divided by the people of the plan */
  times: number | null;
  /** why a number is null; else empty */
  reason: string;
}

/** The expected L2 error over all answers, and the population that it is for. */
export interface ExpectedL2 {
  l2: number;
  /** uniform values, or the given population */
  people: string;
}

/** The least share of people that is found with probability 0.9; `length` is null for integers, and 1 means none. */
export interface Findable {
  length: number | null;
  share: number;
}

/** The answers of one group; null and none where it has fewer reports than the survey's minimum. */
export interface GroupAnswers {
  value: string;
  /** the group in words, such as arm B */
  label: string;
  n_reports: number | null;
  answers: AnswerRow[];
}

/** The same answer of one group; a period in which it has too few reports is a gap. */
export interface GroupCurveBody {
  value: string;
  /** the group in words, such as arm B */
  label: string;
  method: string;
  points: CurvePointBody[];
  trend: TrendBody | null;
}

/** All groups of a survey, and the values of its public variables in their order. */
export interface GroupList {
  variables: Record<string, string[]>;
  groups: GroupStatus[];
}

/** A public group of a survey: its value of every variable, and its reports. `id` is that of its own survey: its estimate, aggregate and files are found there as those of any other. */
export interface GroupStatus {
  number: number;
  id: string;
  label: string;
  values: Record<string, string>;
  state: "deleted" | "open" | "sealed";
  n_reports: number;
  waiting: number;
}

/** The counts are durable, and estimates are made from them. */
export interface HandedIn {
  n_reports: number;
}

/** The process is alive, or ready to serve. */
export interface Health {
  status: "ok";
}

/** A table of two attributes, row after row. */
export interface Heatmap {
  view: "heatmap";
  title: string;
  start: number;
  stop: number;
  shares: boolean;
  rows: string[];
  columns: string[];
  row_name: string;
  column_name: string;
}

/** The numbers of devices for the shortest and the longest words. */
export interface HostileDevices {
  shortest: HostileNumber;
  longest: HostileNumber;
  statement: string;
}

/** The number of devices that suffice for a word of `characters` characters, and their share of all reports. `devices` is null if no number of them suffices, for want of reports. */
export interface HostileNumber {
  characters: number;
  devices: number | null;
  share: number;
}

/** How far malicious devices can move the answers. */
export interface InfluenceBody {
  n_reports: number;
  hostile: number;
  fraction: number;
  largest: number;
  l2: number;
  projected_l2: number;
  exact: boolean;
  statement: string;
}

/** Intervals of a line, both ends included: integers where the line is of integers, else positions in `names`. */
export interface Intervals {
  view: "ranges";
  title: string;
  start: number;
  stop: number;
  shares: boolean;
  lows: number[];
  highs: number[];
  ends: number[];
  names: string[] | null;
}

/** Whether any of the compared answers differs; `statistic` is null where only p-values are known. */
export interface JointTestBody {
  statistic: number | null;
  degrees: number;
  p_value: number;
  method: string;
}

/** The least severe level that is logged. */
export interface LogLevel {
  level: "debug" | "error" | "info" | "warning";
}

/** The scopes of a new token. */
export interface NewToken {
  scopes: ("admin" | "ask" | "publish" | "read")[];
  note?: string;
  expires_in?: number | null;
}

/** One figure with its interval, and the ends between which it can lie. */
export interface NumberFigure {
  name: string;
  unit: string;
  value: number;
  low: number;
  high: number;
  least: number;
  most: number;
}

/** Shares of people in bins between `ends`, each with its label: projected and raw, with intervals. */
export interface NumberHistogram {
  unit: string;
  labels: string[];
  ends: number[];
  value: number[];
  raw: number[];
  low: number[];
  high: number[];
}

/** The share of people whose value is not a word of the survey. */
export interface OtherShare {
  value: number;
  raw: number;
  low: number;
  high: number;
}

/** A parameter of a question; `low` and `high` are the bounds of a number. */
export interface ParameterEntry {
  name: string;
  kind: "alphabet" | "attributes" | "choice" | "fields" | "integer" | "labels" | "missing" | "number" | "range" | "text" | "workload";
  help: string;
  /** example, as on the command line */
  example: string;
  default: number | string | null;
  required: boolean;
  /** exactly one parameter of a group is given; empty for none */
  group: string;
  low: number | null;
  high: number | null;
  /** allowed words; empty for other kinds */
  choices: string[];
}

/** The period that begins next. */
export interface PeriodAhead {
  number: number;
  id: string;
  label: string;
  /** in UTC, as 2027-01-04T00:00:00Z */
  starts: string;
  /** in UTC, as 2027-01-04T00:00:00Z */
  ends: string;
  /** in UTC, as 2027-01-04T00:00:00Z */
  closes: string;
}

/** The first group less the second in one period; null where one of them has too few reports. The band, and p-values adjusted for the number of periods (Holm), are those of closed periods together. */
export interface PeriodDifferenceBody {
  period: number;
  label: string;
  starts: string;
  state: "closed" | "empty" | "open";
  /** of both groups */
  reports: number[] | null;
  first: number | null;
  second: number | null;
  value: number | null;
  raw: number | null;
  low: number | null;
  high: number | null;
  p_value: number | null;
  adjusted_p_value: number | null;
  band_low: number | null;
  band_high: number | null;
}

/** The periods of a tracking survey that have begun, on pages of a thousand, and the next one. `now` is the collector's time, `total` the number of all periods, null without an end, and `promise` what the survey states of a person's privacy. */
export interface PeriodList {
  /** in UTC, as 2027-01-04T00:00:00Z */
  now: string;
  promise: string;
  periods: PeriodStatus[];
  next: PeriodAhead | null;
  total: number | null;
  page: number;
  pages: number;
}

/** A period of a tracking survey that has begun: when it is answered, its state and its reports. */
export interface PeriodStatus {
  number: number;
  id: string;
  label: string;
  /** in UTC, as 2027-01-04T00:00:00Z */
  starts: string;
  /** in UTC, as 2027-01-04T00:00:00Z */
  ends: string;
  /** in UTC, as 2027-01-04T00:00:00Z */
  closes: string;
  state: "deleted" | "open" | "sealed";
  n_reports: number;
  waiting: number;
}

/** Answers with intervals as columns, and how to draw them; null stands for a number that is not finite. */
export interface Picture {
  survey: string;
  title: string;
  kind: string;
  /** the unit of the answers; empty for none */
  unit: string;
  mechanism: string;
  epsilon: number;
  /** 0 where the promise is pure epsilon-LDP */
  delta: number;
  n_reports: number;
  bound: ErrorBound;
  raw_bound: ErrorBound;
  projection_gap: number;
  level: number;
  /** "population" or "so far": whom the intervals are about that hold at every look together; null for intervals of one look */
  always: string | null;
  /** why the intervals hold */
  method: string;
  /** how words were found; for surveys of words only */
  words?: WordsFound;
  minimum_reports: number;
  waiting: number;
  /** the set that raw answers are projected on */
  projection: string;
  /** the number of answers in all */
  answers: number;
  /** the positions of these answers among all, if some are left out */
  positions: number[] | null;
  labels: string[];
  /** the projected answers */
  value: (number | null)[];
  /** the unbiased answers */
  raw: (number | null)[];
  low: (number | null)[];
  high: (number | null)[];
  /** for words: whether people have each, but for the stated probability; null for others */
  certain: boolean[] | null;
  /** for words: the least share that these reports find, by length; null for others */
  findable: Findable[] | null;
  panels: (Bars | Cdf | Heatmap | Intervals)[];
  /** mean, deviation and quantiles of a number, or the mean of each number of a form */
  figures: NumberFigure[];
  /** histogram of answers on a line, such as ages; null for others */
  histogram: NumberHistogram | null;
}

/** A question and two of `epsilon`, `people` and the error; the third is computed. With `central_epsilon` reports are shuffled: `delta` is that of the central guarantee, one of `people` and the error is given, and the largest local epsilon that the certificate allows, up to `epsilon`, is computed. The error is `margin` or `l2`; for a panel it is `error`, the largest over all rounds, and of that and the number of rounds any one may be left out. With `periods`, `renews` or both it is a tracking survey: the error is that of one period, or `change`, the smallest that is seen between two periods, and the people are those of all. Two groups that are compared have `difference` instead of an error, or `groups` with `epsilon` and `people` for the smallest difference that they show; the people are those of both. */
export interface PlanRequest {
  /** a kind of /v1/questions */
  kind: string;
  /** parameters by name, as /v1/questions declares them: numbers, a list of labels, a range as an object of start and stop, attributes as an object of such lists and ranges (in records also of numbers, as objects of low, high, and optionally unit and points; an object may also have labels, and missing, what missing values count as), a workload as text */
  parameters?: Record<string, unknown>;
  people?: number | null;
  delta?: number | null;
  strategy?: string | null;
  mechanism?: string | null;
  criterion?: "l2" | "margin" | null;
  max_report_bytes?: number | null;
  max_counters?: number | null;
  epsilon?: number | null;
  /** central epsilon of the reports of one batch; null without a shuffler */
  central_epsilon?: number | null;
  /** people in the smallest batch that the shuffler forwards; null for all of them */
  least?: number | null;
  margin?: number | null;
  l2?: number | null;
  error?: number | null;
  /** share of people with a word to be found; for words, instead of a margin */
  share?: number | null;
  /** probability with which that word is to be found, for words; null for 0.9 */
  probability?: number | null;
  /** standard error of a slope to reach; for relations, instead of a margin */
  slope_error?: number | null;
  /** the regressor whose slope that is; null where a relation has only one */
  of?: string | null;
  /** number of periods; null with `renews` for no end */
  periods?: number | null;
  /** number of periods in which everybody answers once */
  renews?: number | null;
  /** smallest change that is seen, at 95 % with a power of 80 %; instead of a margin */
  change?: number | null;
  /** smallest difference that is seen between two groups, at 5 % (two-sided); instead of a margin */
  difference?: number | null;
  /** probability with which that difference is seen; null for 0.8 */
  power?: number | null;
  /** 2 for the smallest difference that the people show; null with a difference */
  groups?: number | null;
  /** people in the second group for each one in the first; null for 1 */
  ratio?: number | null;
  /** the share of people with each value; null for the worst case */
  population?: "uniform" | number[] | null;
}

/** A survey that can be run; `solved_for` names the computed quantity. `rounds`, `radius` and `error` are for a panel, whose error is the largest over all rounds; there `margin`, `l2` and all else that belongs to one question are null. */
export interface Planned {
  question: string;
  answers: number | null;
  /** the unit of the answers, and so of a margin; empty for none */
  unit: string;
  /** local epsilon: that of one report */
  epsilon: number;
  /** 0 where the promise is pure epsilon-LDP */
  delta: number;
  /** guarantee with a shuffler, under which each option has its own epsilon; null without */
  central: CentralGuarantee | null;
  people: number;
  solved_for: "epsilon" | "error" | "people" | "rounds";
  criterion: "l2" | "margin" | null;
  /** the error that was asked for, if any */
  target: number | null;
  population: string;
  /** half the width of the widest interval that an estimate will print (95 %) */
  margin: number | null;
  /** a bound on the expected L2 error over all answers */
  l2: number | null;
  /** the L2 error to expect for one population; null where it is not known */
  expected_l2: ExpectedL2 | null;
  bound: ErrorBound | null;
  strategy: string | null;
  mechanism: string;
  reason: string;
  /** recall of words; null unless the question asks for words */
  recall: PlannedRecall | null;
  /** best first; those that cannot be chosen last */
  options: PlannedOption[];
  curves: PlannedCurves;
  /** the id of the planned survey, without a title */
  survey: string | null;
  notes: string[];
  rounds: number | null;
  radius: number | null;
  error: number | null;
  /** plan of a tracking survey, whose people are those of all periods and errors those of one */
  tracking: PlannedTracking | null;
  /** plan of two groups, whose people are those of both and errors those of the first */
  comparison: PlannedComparison | null;
}

/** The part of a plan that only two groups that are compared have. */
export interface PlannedComparison {
  /** people in the first group, and in the second */
  groups: number[];
  /** people in the second group for each one in the first */
  ratio: number;
  /** smallest difference of one answer that is seen */
  difference: number;
  /** probability with which it is seen, at 5 % and two-sided */
  power: number;
}

/** Errors over one axis, one line per design; null where the design cannot be used. */
export interface PlannedCurve {
  x: number[];
  lines: Record<string, (number | null)[]>;
}

/** The error by which designs were compared, against the number of people and against epsilon. */
export interface PlannedCurves {
  people: PlannedCurve;
  epsilon: PlannedCurve;
}

/** One design; `reason` says why it cannot be chosen, and its numbers are then null. */
export interface PlannedOption {
  name: string;
  strategy: string | null;
  mechanism: string | null;
  fits: boolean;
  reason: string;
  epsilon: number;
  people: number;
  margin: number | null;
  l2: number | null;
  /** the L2 error before answers are projected */
  l2_raw: number | null;
  /** whether the variance behind the errors is exact, a bound, or within a stated error */
  status: "bound" | "exact" | "within" | null;
  bound: number | null;
  bound_statement: string | null;
  report_bytes: number | null;
  fetched_bytes: number | null;
}

/** The probability that a word is found and certain, by the share of people who have it. */
export interface PlannedRecall {
  /** probability with which words are to be found */
  probability: number;
  /** the share that was asked for, if any */
  target: number | null;
  /** the least share found with that probability, by words of any length */
  share: number;
  statement: string;
  shares: number[];
  lengths: RecallByLength[];
}

/** The part of a plan that only a tracking survey has. */
export interface PlannedTracking {
  /** null for no end */
  periods: number | null;
  /** number of periods in which everybody answers once */
  window: number;
  windows: number | null;
  people_per_period: number;
  /** epsilon over all windows; null where it adds up without an end */
  epsilon_in_all: number | null;
  /** smallest change that is seen between two periods, at 95 % with a power of 80 % */
  change: number;
  every_period: EveryPeriodCost;
}

/** A survey to be signed and published. */
export interface Publication {
  /** the survey's JSON, as text */
  statement: string;
  attachments?: Record<string, string>;
  minimum_reports?: number | null;
}

/** A round that can be opened: send `statement` and `labels` to the survey's rounds. Nobody has been asked. */
export interface QuestionAnswer {
  statement: string;
  labels: string[];
  round: number;
  rounds: number;
  /** in canonical form */
  query: string;
  n_expected_note: string;
}

/** One kind of question and its parameters. */
export interface QuestionEntry {
  kind: string;
  summary: string;
  parameters: ParameterEntry[];
  strategies: string[];
  mechanisms: string[];
}

/** Every kind of question; and the calendar with which each but a panel becomes a tracking survey. */
export interface Questions {
  questions: QuestionEntry[];
  calendar: ParameterEntry[];
  defaults: Defaults;
}

/** The recall of words of one length. */
export interface RecallByLength {
  /** in letters of one unit, or bytes; null for integers */
  length: number | null;
  /** the least share found with the probability asked for; 1 for none */
  share: number;
  /** probability for each of `shares` */
  probabilities: number[];
}

/** The relay that reports go through. */
export interface RelayRequest {
  /** https, or plain http on this machine */
  url: string;
  /** the smallest batch that it forwards: 2 or more */
  least: number;
  /** delta of the central guarantee: above 0 */
  delta?: number;
}

/** A round of a panel to be signed and opened. */
export interface RoundOpening {
  /** the round's JSON, as text */
  statement: string;
  labels?: string[];
  minimum_reports?: number | null;
}

/** The question of the next round: the mean of a query or, with `choices`, the share of each choice. */
export interface RoundQuestion {
  query: string;
  choices?: string[] | number | null;
}

/** A round of a panel: its state, its reports and its question. */
export interface RoundStatus {
  id: string;
  round: number;
  state: "deleted" | "open" | "sealed";
  n_reports: number;
  waiting: number;
  query: string;
  labels: string[];
}

/** The rounds asked so far. */
export interface Rounds {
  rounds: RoundStatus[];
}

/** Counted reports that are stored together: all of one coarse time. */
export interface SegmentEntry {
  number: number;
  epoch: number;
  n: number;
}

/** All segments of a survey, in order. */
export interface Segments {
  segments: SegmentEntry[];
}

/** A token, to be kept by the browser. */
export interface SignIn {
  token: string;
}

/** The session of a browser: the scopes of its token, and the note of an admin beside it. */
export interface SignedIn {
  scopes: ("admin" | "ask" | "publish" | "read")[];
  note: string;
}

/** Nobody is signed in any more. */
export interface SignedOut {
  signed_in: boolean;
}

/** The smoothed curve, and what must hold for its band to hold. */
export interface SmoothBody {
  answer: string;
  unit: string;
  level: number;
  step: number;
  assumption: string;
  points: SmoothPointBody[];
}

/** The smoothed answer of one period, with its interval under the assumption. */
export interface SmoothPointBody {
  period: number;
  value: number;
  low: number;
  high: number;
}

/** The new state of a survey. */
export interface StateBody {
  id: string;
  state: "deleted" | "open" | "sealed";
}

/** The state of a survey and how many reports it has. `waiting` reports are durable and not counted yet, resent ones included. Estimates begin at `minimum_reports`, which anybody can reach with invented reports. A panel has at most `rounds` rounds, and `asked` of them have been asked. A tracking survey has `rounds` periods, or null without an end, and `asked` of them have begun. */
export interface Status {
  id: string;
  title: string;
  kind: string;
  epsilon: number;
  /** 0 where the promise is pure epsilon-LDP */
  delta: number;
  mechanism: string | null;
  state: "deleted" | "open" | "sealed";
  n_reports: number;
  waiting: number;
  minimum_reports: number;
  rounds: number | null;
  asked: number | null;
  /** length of a tracking survey's periods, by name or in days; null for others */
  every?: string | number | null;
  /** guarantee of reports that go through a relay; null without one */
  central?: CentralGuarantee | null;
  /** public variables and their values; null without groups, and for the survey of one group */
  groups?: Record<string, string[]> | null;
}

/** All answers with their intervals; null stands for a number that is not finite. */
export interface TableBody {
  survey: string;
  title: string;
  kind: string;
  /** the unit of the answers; empty for none */
  unit: string;
  mechanism: string;
  epsilon: number;
  /** 0 where the promise is pure epsilon-LDP */
  delta: number;
  n_reports: number;
  bound: ErrorBound;
  raw_bound: ErrorBound;
  projection_gap: number;
  level: number;
  /** "population" or "so far": whom the intervals are about that hold at every look together; null for intervals of one look */
  always: string | null;
  /** why the intervals hold */
  method: string;
  /** how words were found; for surveys of words only */
  words?: WordsFound;
  answers: AnswerRow[];
}

/** A new token; `token` is shown this once and stored nowhere. `repr` leaves it out. */
export interface TokenCreated {
  id: string;
  token: string;
  scopes: ("admin" | "ask" | "publish" | "read")[];
  note: string;
  expires?: string | null;
}

/** A token without its secret. */
export interface TokenEntry {
  id: string;
  scopes: ("admin" | "ask" | "publish" | "read")[];
  note: string;
  revoked: boolean;
  expires?: string | null;
}

/** The token is revoked. */
export interface TokenRevoked {
  id: string;
  revoked: boolean;
}

/** All tokens, revoked ones too. */
export interface Tokens {
  tokens: TokenEntry[];
}

/** A line through the closed periods, and whether anything changed at all. */
export interface TrendBody {
  answer: string;
  unit: string;
  slope: number;
  low: number;
  high: number;
  level: number;
  p_value: number;
  statistic: number;
  degrees: number;
  p_value_change: number;
  periods: number;
  /** the trend in one sentence */
  statement: string;
}

/** A group, or a value of a private field, with a share of the population. */
export interface WeighedGroupRow {
  group: Record<string, string>;
  /** its share of the population */
  weight: number;
  /** its share of the reports; of a private field, estimated */
  share: number;
  /** null for a value of a private field */
  n_reports: number | null;
  /** how much one of its reports counts, where without weights it is 1 */
  factor: number;
}

/** Answers for a population whose shares are known. */
export interface WeightedBody {
  survey: string;
  n_reports: number;
  /** reports without weights that would tell as much */
  effective_reports: number;
  level: number;
  /** rake or greg */
  method: string;
  /** how the intervals are made */
  intervals: string;
  /** what to know of these weights, and what they cannot mend */
  notes: string[];
  groups: WeighedGroupRow[];
  answers: AnswerRow[];
}

/** A population whose shares are known, by variable and value; shares of a variable add up to 1. */
export interface Weighting {
  population: Record<string, Record<string, number>>;
  /** probability with which each interval contains the truth */
  level?: number;
  /** answers; all of them where it is left out; words must be named */
  answers?: string[] | null;
  /** how private fields of a form are weighed, greg by default; public groups are raked */
  method?: "greg" | "rake" | null;
}

/** The shares of the words that were asked for, in their order. */
export interface WordsAnswer {
  survey: string;
  n_reports: number;
  level: number;
  answers: AnswerRow[];
}

/** Words whose shares are asked for; bytes as 0x and hexadecimal digits, integers as decimal digits. */
export interface WordsAsked {
  words: string[];
  /** probability with which each interval contains the truth */
  level?: number;
  /** 1: intervals that hold at every look together while reports come in; 0: at one look; open: at every look until the survey is sealed and all its reports are counted, then at one */
  always?: "0" | "1" | "open";
}

/** How words were found that nobody listed. */
export interface WordsFound {
  /** the largest probability that any certain word is nobody's */
  false_discovery: number;
  /** number of words that are not certain and expected by chance */
  expected_doubtful: number;
  other: OtherShare | null;
  /** the prefixes kept at every level of the search */
  prefixes_kept: number[];
  /** words that were tried */
  candidates: number;
  /** whether prefixes were dropped for want of memory */
  cut: boolean;
  /** malicious devices that suffice to put any chosen word on the list */
  hostile_devices: HostileDevices;
}
