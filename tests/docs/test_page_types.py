"""The pages' types of the service's JSON are those of its OpenAPI document."""

import make_page_types


def test_the_types_are_what_the_script_writes() -> None:
    assert make_page_types.FILE.read_text(encoding="utf-8") == make_page_types.types(), (
        "run `npm run types` in clients/pages"
    )


def test_types_are_written_as_typescript_has_them() -> None:
    text = make_page_types.types()
    for line in (
        '  state: "deleted" | "open" | "sealed";',
        "  minimum_reports?: number | null;",
        "  value: (number | null)[];",
        "  lines: Record<string, (number | null)[]>;",
        "  panels: (Bars | Cdf | Heatmap | Intervals)[];",
    ):
        assert line in text
