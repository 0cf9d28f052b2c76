// The page of one run, or of several: what a run's record and its curves say, drawn as SVG and
// tables. All texts of a run are shown by textContent, never taken for HTML.
'use strict';

const runs = JSON.parse(document.getElementById('runs').textContent);
const isComparison = runs.length !== 1;
const main = document.querySelector('main');

// --- Elements ------------------------------------------------------------------------------

function make(parent, name, properties = {}, text) {
  const element = document.createElement(name);
  Object.assign(element, properties);
  if (text !== undefined) element.textContent = text;
  return parent.appendChild(element);
}

function makeSvg(parent, name, attributes = {}, text) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== undefined) element.textContent = text;
  return parent.appendChild(element);
}

function section(title) {
  const element = make(main, 'section');
  make(element, 'h2', {}, title);
  return element;
}

// rows: arrays of cells; numbers, with so many digits, are aligned to the right.
function makeTable(parent, columns, rows, digits) {
  const table = make(make(parent, 'div', {className: 'scroll'}), 'table');
  const head = make(make(table, 'thead'), 'tr');
  for (const column of columns) make(head, 'th', {}, column);
  const body = make(table, 'tbody');
  for (const row of rows) {
    const line = make(body, 'tr');
    for (const cell of row)
      typeof cell === 'number' ? make(line, 'td', {className: 'number'}, format(cell, digits)) : make(line, 'td', {}, String(cell ?? ''));
  }
  return table;
}

// --- Numbers -------------------------------------------------------------------------------

function format(value, digits = 4) {
  if (value === null || value === undefined) return '';
  if (value === 0) return '0';  // not -0
  if (Number.isInteger(value) && Math.abs(value) < 1e15) return value.toLocaleString('en');
  const size = Math.abs(value);
  return size >= 1e5 || size < 1e-3 ? value.toExponential(digits - 2) : String(Number(value.toPrecision(digits)));
}

// Ticks with as many digits as tell them apart.
function tickLabels(ticks) {
  let labels = [];
  for (let digits = 4; digits <= 16 && new Set(labels).size < Math.max(1, ticks.length); ++digits)
    labels = ticks.map((tick) => format(tick, digits));
  return labels;
}

function formatSeconds(seconds) {
  const s = Math.round(seconds), two = (n) => String(n).padStart(2, '0');
  return s < 60 ? `${s} s` : s < 3600 ? `${Math.floor(s / 60)}:${two(s % 60)} min`
      : `${Math.floor(s / 3600)}:${two(Math.floor(s / 60) % 60)} h`;
}

// Round numbers of an axis from low to high.
function ticksOf(low, high, most, isLog) {
  const ticks = [];
  if (isLog) {
    const first = Math.floor(Math.log10(low)), last = Math.ceil(Math.log10(high));
    const every = Math.max(1, Math.ceil((last - first) / most));
    const within = last - first < 3 ? [1, 2, 5] : [1];
    for (let e = first; e <= last; e += every)
      for (const digit of within) ticks.push(digit * 10 ** e);
    const shown = ticks.filter((t) => t >= low * 0.999 && t <= high * 1.001);
    if (shown.length >= 2) return shown;
    ticks.length = 0;
  }
  const raw = (high - low) / most, power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((digit) => digit * power).find((s) => s >= raw * 0.999);
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + 1e-9 * step; ++i) ticks.push(i * step);
  return ticks;
}

// --- What is drawn how, kept in the address across reloads -----------------------------------

const view = {smooth: 0, range: null, reload: false, log: [], whole: [], hidden: []};
try { Object.assign(view, JSON.parse(decodeURIComponent(location.hash.slice(1)))); } catch { }
const charts = [];

function redraw() {
  history.replaceState(null, '', '#' + encodeURIComponent(JSON.stringify(view)));
  for (const chart of charts) chart.draw();
}

const valueIn = (object, name) => object && Object.hasOwn(object, name) ? object[name] : undefined;
const toggle = (list, name) => list.includes(name) ? list.splice(list.indexOf(name), 1) : list.push(name);

// An exponential moving average without a bias to its first value, over the points' means.
function smoothed(values, weight) {
  let sum = 0, total = 0;
  return values.map((value) => {
    sum = weight * sum + (1 - weight) * value;
    total = weight * total + (1 - weight);
    return sum / total;
  });
}
