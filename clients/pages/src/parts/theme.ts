/** Light or dark: as the machine says, unless somebody chose here; the choice stays in this browser. */
import { el, svg } from "./dom.js";
import { recall, remember } from "./keep.js";

const CHOICES = ["auto", "light", "dark"] as const;
export type Theme = (typeof CHOICES)[number];

/** What is drawn as a line, and what is filled. */
const ICONS: Record<Theme, { line: string; solid?: string }> = {
  auto: { line: "M10 2.5a7.5 7.5 0 0 1 0 15", solid: "M10 2.5a7.5 7.5 0 1 0 0 15z" },
  light: {
    line:
      "M10 6.5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7zM10 1.5v2M10 16.5v2M1.5 10h2M16.5 10h2" +
      "M4 4l1.4 1.4M14.6 14.6 16 16M4 16l1.4-1.4M14.6 5.4 16 4",
  },
  dark: { line: "M16.5 12.2A7 7 0 0 1 7.8 3.5a7 7 0 1 0 8.7 8.7z" },
};

/** What was chosen in this browser. */
export function chosenTheme(): Theme {
  const kept = recall("localStorage", "theme");
  return CHOICES.find((choice) => choice === kept) ?? "auto";
}

/** Shows the page so; charts redraw when the root's `data-theme` changes. */
export function applyTheme(theme: Theme = chosenTheme()): void {
  if (theme === "auto") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = theme;
}

/** Three buttons; one of them is down. */
export function themeSwitch(): HTMLElement {
  const chosen = chosenTheme();
  const choose = (theme: Theme): void => {
    remember("localStorage", "theme", theme === "auto" ? null : theme);
    applyTheme(theme);
  };
  return el(
    "fieldset",
    { class: "themes" },
    el("legend", { class: "visually-hidden" }, "Colours"),
    ...CHOICES.map((theme) =>
      el(
        "label",
        { title: theme === "auto" ? "as this machine has it" : theme },
        el("input", {
          type: "radio",
          name: "theme",
          value: theme,
          checked: theme === chosen,
          class: "visually-hidden",
          onchange: () => choose(theme),
        }),
        icon(ICONS[theme]),
        el("span", { class: "visually-hidden" }, theme),
      ),
    ),
  );
}

function icon({ line, solid }: { line: string; solid?: string }): SVGElement {
  return svg(
    "svg",
    { viewBox: "0 0 20 20", width: 20, height: 20, class: "icon", "aria-hidden": "true" },
    svg("path", { d: line }),
    solid !== undefined && svg("path", { d: solid, class: "solid" }),
  );
}
