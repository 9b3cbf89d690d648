// Draws what a breaker's window holds: each outcome of a count window, oldest
// first, a bar for each bucket of a time window, or a bar for each score.

import { mark } from "./dom.js";
import { duration } from "./text.js";

const SVG = "http://www.w3.org/2000/svg";
const KINDS = ["space", "success", "slow", "failure", "timeout"];

/** A drawing to be filled by `draw`. */
export function canvas() {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("class", "window");
  svg.setAttribute("role", "img");
  svg.setAttribute("preserveAspectRatio", "none");
  for (const kind of KINDS) {
    const path = document.createElementNS(SVG, "path");
    path.setAttribute("class", kind);
    svg.append(path);
  }
  return svg;
}

/** Draws the window of a breaker's state. */
export function draw(svg, { window, counts }) {
  const paths = Object.fromEntries(KINDS.map((kind) => [kind, ""]));
  if (window.failures !== undefined) {
    drawScores(svg, window, paths);
    return;
  }
  const isTimed = window.buckets !== undefined;
  const [width, height] = isTimed ? drawBuckets(window, paths) : drawOutcomes(window, paths);
  mark(svg, "viewBox", `0 0 ${width} ${height}`);
  // Many rows are lower each, and take more room together.
  const rows = height / 10;
  svg.style.height = `${Math.max(1.8, Math.min(rows * 0.6, 4.8), rows * 0.3)}rem`;
  for (const path of svg.children) mark(path, "d", paths[path.getAttribute("class")]);
  const held = isTimed
    ? `${counts.samples} outcomes of the last ${duration(window.length_ms)}`
    : `${counts.samples} of ${window.size} outcomes`;
  mark(svg, "aria-label", `Window: ${held}, ${counts.failures} failures, ` +
    `${counts.timeouts} of them timeouts, ${counts.slow} slow`);
}

/** A bar for each score, as far as it is from its limit. */
function drawScores(svg, { failures, slow }, paths) {
  const scores = [["failure", failures], ["slow", slow]].filter(([, level]) => level !== null);
  const told = [];
  scores.forEach(([kind, { score, limit }], row) => {
    const bottom = (row + 1) * 10;
    paths.space += `M0 ${bottom - 1}v-8h100v8z`;
    paths[kind] += `M0 ${bottom - 1}v-8h${(score / limit) * 100}v8z`;
    told.push(`the score on ${kind === "slow" ? "slow calls" : "failures"} is ${score} of ${limit}`);
  });
  mark(svg, "viewBox", `0 0 100 ${scores.length * 10}`);
  svg.style.height = "1.8rem";
  for (const path of svg.children) mark(path, "d", paths[path.getAttribute("class")]);
  mark(svg, "aria-label", `Window: ${told.join(", ")}`);
}

function drawOutcomes({ size, outcomes }, paths) {
  const columns = columnsOf(size);
  for (let index = 0; index < size; index += 1) {
    const x = (index % columns) * 10;
    const bottom = (Math.floor(index / columns) + 1) * 10;
    const letter = outcomes[index];
    if (letter === undefined) paths.space += bar(x, bottom, 1);
    else if (letter === "s") paths.success += bar(x, bottom, 3.5);
    else if (letter === "S") paths.slow += bar(x, bottom, 6.5);
    else if (letter === "f" || letter === "F") paths.failure += bar(x, bottom, 9);
    else paths.timeout += bar(x, bottom, 9) + hole(x, bottom, 9);
  }
  return [columns * 10, Math.ceil(size / columns) * 10];
}

/** One row for a small window, more for a larger, and no cells too narrow to be seen. */
function columnsOf(size) {
  if (size <= 40) return size;
  return Math.min(128, Math.ceil(size / Math.ceil(Math.sqrt(size / 20))));
}

function drawBuckets({ length_ms, bucket_ms, buckets }, paths) {
  const columns = Math.max(1, Math.round(length_ms / bucket_ms));
  const most = Math.max(1, ...buckets.map((bucket) => bucket.samples));
  const places = new Map(buckets.map((bucket) => [columns - 1 - Math.floor(bucket.age_ms / bucket_ms), bucket]));
  for (let column = 0; column < columns; column += 1) {
    const x = column * 10;
    const bucket = places.get(column);
    if (bucket === undefined) {
      paths.space += bar(x, 20, 1);
      continue;
    }
    let bottom = 20;
    for (const [kind, count] of [
      ["success", bucket.samples - bucket.failures],
      ["failure", bucket.failures - bucket.timeouts],
      ["timeout", bucket.timeouts],
    ]) {
      if (count === 0) continue;
      const height = (count / most) * 18;
      paths[kind] += bar(x, bottom, height);
      if (kind === "timeout" && height > 4) paths[kind] += hole(x, bottom, height);
      bottom -= height;
    }
  }
  return [columns * 10, 20];
}

function bar(x, bottom, height) {
  return `M${x + 1} ${bottom}v${-height}h8v${height}z`;
}

/** Drawn the other way round than the bar, so that it stays empty. */
function hole(x, bottom, height) {
  return `M${x + 3} ${bottom - 1.5}h4v${3 - height}h-4z`;
}
