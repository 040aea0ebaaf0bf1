/** Files that charts become hold text as text, and colours whose lightness goes one way. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { clearer, mixed, toLab } from "../src/charts/palette.js";
import { escaped, SvgPen } from "../src/charts/pen.js";
import { captioned, captionOf, fileName } from "../src/charts/svg_export.js";

test("labels cannot become elements or attributes of the file", () => {
  const pen = new SvgPen(100, 50, "rgb(1, 2, 3)");
  pen.text(`</text><script>alert("1")</script>`, 1, 2, { fill: "red" });
  const file = pen.toString();
  assert.ok(!file.includes("<script"));
  assert.ok(file.includes("&#60;script&#62;"));
  assert.match(file, /^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" width="100" height="50"/);
});

test("characters that no XML file may hold are left out", () => {
  assert.equal(escaped("a\u0000b\u001Fc\uFFFFd\uD800e"), "abcde");
  assert.equal(escaped("naïve 😀\t"), "naïve 😀\t");
});

test("a path goes through its points, shortened to hundredths", () => {
  const pen = new SvgPen(10, 10, "white");
  pen.path([0, 1.23456, 2, 3], { stroke: "red", dash: [4, 4] });
  pen.path([], { stroke: "red" });
  assert.equal(pen.toString().match(/<path /g)?.length, 1);
  assert.ok(pen.toString().includes(`d="M0,1.23L2,3"`));
});

test("mixing begins with one colour and ends with the other, and grows lighter evenly between", () => {
  const [dark, light] = [toLab("rgb(20, 47, 99)"), toLab("rgb(244, 241, 228)")];
  assert.equal(mixed(dark, light, 0), "rgb(20, 47, 99)");
  assert.equal(mixed(dark, light, 1), "rgb(244, 241, 228)");
  const lightness = [0, 0.25, 0.5, 0.75, 1].map((share) => toLab(mixed(dark, light, share))[0]);
  for (let at = 1; at < lightness.length; at += 1) {
    const step = (lightness[at] as number) - (lightness[at - 1] as number);
    assert.ok(Math.abs(step - (light[0] - dark[0]) / 4) < 0.01, `${lightness}`);
  }
});

test("words on a ground have the colour that can be read", () => {
  assert.equal(clearer("rgb(20, 47, 99)", "rgb(28, 30, 33)", "rgb(255, 255, 255)"), "rgb(255, 255, 255)");
  assert.equal(clearer("rgb(140, 196, 196)", "rgb(28, 30, 33)", "rgb(255, 255, 255)"), "rgb(28, 30, 33)");
});

test("a file's name is plain, whatever the title", () => {
  assert.equal(fileName(["What music?", "share of each value"], "svg"), "what-music-share-of-each-value.svg");
  assert.equal(fileName(["../../etc", "a/b"], "svg"), "etc-a-b.svg");
  assert.equal(fileName(["日本"], "csv"), "picture.csv");
});

test("a picture that leaves its page says what it is", () => {
  const caption = captionOf(1200, { epsilon: 0.5, delta: 0 }, 0.9);
  assert.equal(caption, "1,200 reports · ε = 0.5 · 90\u00a0% intervals");
  const gaussian = captionOf(1200, { epsilon: 0.5, delta: 1e-6 }, 0.9);
  assert.equal(gaussian, "1,200 reports · ε = 0.5, δ = 10⁻⁶ · 90\u00a0% intervals");
  const file = captioned(new SvgPen(960, 100, "white").toString(), `<b> ${"long ".repeat(50)}`, caption);
  assert.match(file, /^<svg [^>]*width="960" height="160" viewBox="0 0 960 160"/);
  assert.match(file, /<svg y="60" xmlns=[^>]*height="100"/);
  assert.ok(file.includes(caption) && file.includes("&#60;b&#62; long") && file.includes("…</text>"));
  assert.ok(file.trimEnd().endsWith("</svg>\n</svg>"));
});
