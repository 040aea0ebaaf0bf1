"""The clients' types of the service's JSON are those of its OpenAPI document."""

import make_client_types


def test_the_types_are_what_the_script_writes() -> None:
    for path, text in make_client_types.files().items():
        assert path.read_text(encoding="utf-8") == text, "run `npm run types` in clients/pages"


def test_types_are_written_as_typescript_has_them() -> None:
    text = "".join(make_client_types.files().values())
    for line in (
        '  state: "deleted" | "open" | "sealed";',
        "  minimum_reports?: number | null;",
        "  value: (number | null)[];",
        "  lines: Record<string, (number | null)[]>;",
        "  panels: (Bars | Cdf | Heatmap | Intervals)[];",
    ):
        assert line in text
