-- Open tracking surveys, whose periods begin and end by themselves, are found without looking at any other survey.

CREATE INDEX surveys_tracked ON surveys (number) WHERE kind = 'tracking' AND state = 'open';
