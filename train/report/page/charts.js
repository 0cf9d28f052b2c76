// --- Charts --------------------------------------------------------------------------------

// series: {name, curve: {x, y, low, high, bad}, colour, dash, faint}
class Chart {
  constructor(parent, title, series, {note, wide, log, whole} = {}) {
    this.title = title;
    this.series = series;
    this.box = make(parent, 'div', {className: 'chart' + (wide ? ' wide' : '')});
    const header = make(this.box, 'header');
    make(header, 'strong', {}, title);
    if (log && !location.hash) view.log.push(title);
    if (whole && !location.hash) view.whole.push(title);
    this.buttons = [['log', 'logarithmic axis'], ['whole', 'the whole range of values']].map(([list, about]) =>
      [list, make(header, 'button', {title: about, onclick: () => { toggle(view[list], title); redraw(); }}, list)]);
    if (note) make(this.box, 'p', {className: 'faint'}, note);
    this.svg = makeSvg(this.box, 'svg', {role: 'img', 'aria-label': title});
    this.message = make(this.box, 'p', {className: 'faint'});
    if (series.length > 1 && !isComparison) this.legend = makeLegend(this.box, series);
    this.tip = make(this.box, 'div', {className: 'tip', hidden: true});
    this.svg.addEventListener('pointermove', (event) => this.point(event));
    this.svg.addEventListener('pointerleave', () => { if (this.from === undefined) this.unpoint(); });
    this.svg.addEventListener('pointerdown', (event) => {
      this.svg.setPointerCapture(event.pointerId);
      this.from = this.stepAt(event);
    });
    this.svg.addEventListener('pointerup', (event) => {
      const [first, last] = [this.from, this.stepAt(event)].sort((a, b) => a - b);
      this.from = undefined;
      this.unpoint();
      if (Math.abs(this.toX(last) - this.toX(first)) < 6) return;
      view.range = [first, last];
      redraw();
    });
    this.svg.addEventListener('pointercancel', () => { this.from = undefined; this.unpoint(); });
    this.svg.addEventListener('dblclick', () => { view.range = null; redraw(); });
    charts.push(this);
  }

  shown() { return this.series.filter((s) => s.curve.x.length + (s.curve.bad || []).length > 0 && !view.hidden.includes(s.name)); }

  // The range of values. The first steps, which are far from the rest, and single spikes are
  // outside of it, unless they are near or the whole range is asked for.
  rangeOf(lines, x0, x1, isLog) {
    const all = [], late = [];
    for (const {curve, y} of lines)
      curve.x.forEach((x, i) => {
        if (x < x0 || x > x1 || (isLog && y[i] <= 0)) return;
        all.push(y[i]);
        if (x >= x0 + 0.05 * (x1 - x0)) late.push(y[i]);
      });
    if (all.length === 0) return [isLog ? 0.1 : 0, 1];
    const f = isLog ? Math.log10 : (v) => v, inverse = isLog ? (v) => 10 ** v : (v) => v;
    const sorted = (late.length > 3 ? late : all).map(f).sort((a, b) => a - b);
    const at = (q) => sorted[Math.round(q * (sorted.length - 1))];
    let low = at(0.002), high = at(0.998);
    const margin = 0.6 * (high - low);
    let lowest = Infinity, highest = -Infinity;
    for (const value of all) { lowest = Math.min(lowest, f(value)); highest = Math.max(highest, f(value)); }
    const isWhole = view.whole.includes(this.title);
    if (isWhole || lowest > low - margin) low = lowest;
    if (isWhole || highest < high + margin) high = highest;
    this.beyond = {low: lowest < low ? inverse(lowest) : null, high: highest > high ? inverse(highest) : null};
    const space = high > low ? 0.05 * (high - low) : (isLog ? 0.05 : Math.abs(high) * 0.05 || 0.5);
    return [inverse(low - space), inverse(high + space)];
  }

  draw() {
    const width = this.width = Math.max(240, this.svg.clientWidth || 600), height = this.box.classList.contains('wide') ? 340 : 220;
    const [right, top, bottom] = [24, 8, 24];
    this.svg.replaceChildren();
    this.svg.setAttribute('viewBox', `0 0 ${width} ${height}`);
    this.svg.style.height = height + 'px';
    const isLog = view.log.includes(this.title);
    for (const [list, button] of this.buttons) button.ariaPressed = view[list].includes(this.title);
    const shown = this.shown();
    const lines = shown.map((s) => ({...s, y: view.smooth > 0 ? smoothed(s.curve.y, view.smooth) : s.curve.y}));
    const steps = this.series.flatMap((s) => [...s.curve.x.slice(0, 1), ...s.curve.x.slice(-1), ...(s.curve.bad || [])]);
    let [x0, x1] = view.range || [Math.min(...steps), Math.max(...steps)];
    if (!(x1 > x0)) [x0, x1] = steps.length ? [x0 - 1, x0 + 1] : [0, 1];
    this.beyond = {};
    const [y0, y1] = this.rangeOf(lines, x0, x1, isLog);
    const f = isLog ? Math.log10 : (v) => v;
    const ticks = ticksOf(y0, y1, 5, isLog), labels = tickLabels(ticks);
    const left = Math.max(56, 14 + 7 * Math.max(0, ...labels.map((label) => label.length)));
    this.toX = (x) => left + (x - x0) / (x1 - x0) * (width - left - right);
    this.toStep = (px) => x0 + Math.min(1, Math.max(0, (px - left) / (width - left - right))) * (x1 - x0);
    this.toY = (y) => (isLog && y <= 0) ? height : top + (f(y1) - f(y)) / (f(y1) - f(y0)) * (height - top - bottom);
    ticks.forEach((y, i) => {
      makeSvg(this.svg, 'line', {class: 'grid', x1: left, x2: width - right, y1: this.toY(y), y2: this.toY(y)});
      makeSvg(this.svg, 'text', {class: 'y', x: left - 6, y: this.toY(y) + 4, 'text-anchor': 'end'}, labels[i]);
    });
    for (const x of ticksOf(x0, x1, Math.floor(width / 90), false).filter(Number.isInteger))
      makeSvg(this.svg, 'text', {class: 'x', x: this.toX(x), y: height - 6, 'text-anchor': 'middle'}, format(x));
    const id = 'clip' + charts.indexOf(this);
    makeSvg(makeSvg(this.svg, 'clipPath', {id}), 'rect', {x: left - 4, y: top - 4, width: width - left - right + 8, height: height - top - bottom + 8});
    const plot = makeSvg(this.svg, 'g', {'clip-path': `url(#${id})`});
    for (const s of lines) this.drawCurve(plot, s, x0, x1, isLog);
    for (const {curve, colour} of lines)
      for (const step of (curve.bad || []).filter((x) => x >= x0 && x <= x1))
        makeSvg(this.svg, 'text', {class: 'bad', x: this.toX(step), y: top + 10, 'text-anchor': 'middle', style: `fill: ${colour}`}, '✕');
    this.message.textContent = [
      Number.isFinite(this.beyond.high) ? `values up to ${format(this.beyond.high)} are above` : '',
      Number.isFinite(this.beyond.low) ? `values down to ${format(this.beyond.low)} are below` : '',
      lines.some((s) => s.curve.bad) ? '✕ NaN or infinite' : ''].filter(Boolean).join('; ');
    this.front = makeSvg(this.svg, 'g');
    if (this.legend) this.legend.update();
  }

  drawCurve(plot, {name, curve, y, colour, dash, faint}, x0, x1, isLog) {
    const {x, low, high} = curve;
    // One point on each side beyond the range, to which lines go.
    const first = Math.max(0, x.findIndex((v) => v >= x0) - 1);
    let last = x.findIndex((v) => v > x1);
    if (last < 0) last = x.length - 1;
    const path = (values, from, to) => {
      let text = '', pen = 'M';
      for (let i = from; i <= to; ++i) {
        if (isLog && values[i] <= 0) { pen = 'M'; continue; }
        text += pen + this.toX(x[i]).toFixed(1) + ' ' + this.toY(values[i]).toFixed(1);
        pen = 'L';
      }
      return text;
    };
    if (x.length === 0) return;
    const style = {fill: 'none', stroke: colour, 'stroke-dasharray': dash || '', 'stroke-linejoin': 'round'};
    if (low) {
      const upper = path(high, first, last);
      let lower = '';
      for (let i = last; i >= first; --i)
        lower += 'L' + this.toX(x[i]).toFixed(1) + ' ' + Math.min(1e5, this.toY(low[i])).toFixed(1);
      makeSvg(plot, 'path', {class: 'band', d: upper + lower + 'Z', fill: colour, opacity: 0.18});
    } else if (view.smooth > 0) {
      makeSvg(plot, 'path', {...style, class: 'raw', d: path(curve.y, first, last), opacity: 0.3});
    }
    makeSvg(plot, 'path', {...style, class: 'curve', 'data-name': name, 'data-points': x.length, d: path(y, first, last), 'stroke-width': faint ? 1 : 2, opacity: faint ? 0.6 : 1});
    if (last - first < 40 && !faint)
      for (let i = first; i <= last; ++i)
        if (!isLog || y[i] > 0) makeSvg(plot, 'circle', {cx: this.toX(x[i]), cy: this.toY(y[i]), r: 2.6, fill: colour});
  }

  stepAt(event) {
    const box = this.svg.getBoundingClientRect();
    return this.toStep((event.clientX - box.left) / box.width * this.width);
  }

  unpoint() { this.tip.hidden = true; this.front.replaceChildren(); }

  point(event) {
    this.front.replaceChildren();
    const step = this.stepAt(event), at = this.toX(step);
    const height = this.svg.viewBox.baseVal.height;
    if (this.from !== undefined) {
      const other = this.toX(this.from);
      makeSvg(this.front, 'rect', {class: 'zoom', x: Math.min(at, other), width: Math.abs(at - other), y: 0, height});
    }
    this.tip.replaceChildren();
    let nearest = null;
    for (const {name, curve, colour} of this.shown()) {
      const i = nearestIndex(curve.x, step);
      if (i < 0) continue;
      const range = curve.low && curve.low[i] !== curve.high[i] ? ` (${format(curve.low[i], 6)} … ${format(curve.high[i], 6)})` : '';
      make(this.tip, 'div', {style: `color: ${colour}`}, `${name}: ${format(curve.y[i], 6)}${range}`);
      makeSvg(this.front, 'circle', {cx: this.toX(curve.x[i]), cy: this.toY(curve.y[i]), r: 4, fill: colour});
      if (nearest === null || Math.abs(curve.x[i] - step) < Math.abs(nearest - step)) nearest = curve.x[i];
    }
    if (nearest === null) return;
    makeSvg(this.front, 'line', {class: 'pointer', x1: this.toX(nearest), x2: this.toX(nearest), y1: 0, y2: height - 24});
    this.tip.prepend(Object.assign(document.createElement('div'), {textContent: `step ${format(nearest)}`}));
    this.tip.hidden = false;
    const share = at / this.width;
    this.tip.style.left = share < 0.5 ? `calc(${100 * share}% + 16px)` : '';
    this.tip.style.right = share < 0.5 ? '' : `calc(${100 * (1 - share)}% + 16px)`;
    this.tip.style.top = '64px';
  }
}

function nearestIndex(sorted, value) {
  let low = 0, high = sorted.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    sorted[middle] < value ? low = middle + 1 : high = middle;
  }
  return low > 0 && value - sorted[low - 1] < sorted[low] - value ? low - 1 : high < 0 ? -1 : low;
}

// A click on a name hides its curves.
function makeLegend(parent, series) {
  const legend = make(parent, 'div', {className: 'legend'});
  const entries = series.map(({name, colour, dash}) => {
    const entry = make(legend, 'span', {title: 'show or hide', onclick: () => { toggle(view.hidden, name); redraw(); }});
    makeSvg(makeSvg(entry, 'svg', {viewBox: '0 0 26 10'}), 'line', {x1: 0, x2: 26, y1: 5, y2: 5, stroke: colour, 'stroke-width': 3, 'stroke-dasharray': dash || ''});
    entry.append(name);
    return [name, entry];
  });
  legend.update = () => { for (const [name, entry] of entries) entry.classList.toggle('hidden', view.hidden.includes(name)); };
  return legend;
}

const empty = {x: [], y: []};
const colourOf = (i) => `var(--c${i % 6})`;
const dashOf = (i) => ['', '7 4', '2 3', '9 3 2 3'][Math.floor(i / 6) % 4];

function makeCharts(parent) {
  const names = [...new Set(runs.flatMap((run) => Object.keys(run.curves)))].filter((name) => name !== 'epoch');
  const isLoss = (name) => /(^|_)loss$/.test(name);
  const isSpeed = (name) => name.endsWith('_per_s');
  const titleOf = (name) => isSpeed(name) ? name.replace(/_per_s$/, ' per second') : name.replaceAll('_', ' ');
  const ofRuns = (name) => runs.map((run, i) => ({name: run.name, curve: valueIn(run.curves, name) || empty, colour: colourOf(i), dash: dashOf(i)}));
  if (isComparison) {
    const order = (name) => name === 'validation_loss' ? 0 : isLoss(name) ? 1 : 2;
    for (const name of names.sort((a, b) => order(a) - order(b))) new Chart(parent, titleOf(name), ofRuns(name), {wide: name === 'validation_loss'});
    return;
  }
  const curves = runs[0].curves;
  const losses = names.filter((name) => isLoss(name) && name !== 'loss');
  const series = losses.map((name, i) => ({name: titleOf(name), curve: curves[name], colour: colourOf(i)}));
  series.push({name: 'loss of the steps', curve: valueIn(curves, 'loss') || empty, colour: 'var(--faint)', faint: losses.length > 0});
  new Chart(parent, 'loss', series, {wide: true, note: losses.includes('training_loss')
      ? 'Training loss and validation loss mean the same: measured at validations, without dropout; the loss of the steps is as they were trained, with dropout and label smoothing.'
      : 'The loss of the steps is as they were trained, with dropout and label smoothing.'});
  const own = ['learning_rate', 'grad_norm', 'update_ratio', 'noise_scale'];
  const rank = (name) => isSpeed(name) ? 2 : own.includes(name) ? 1 : 0;
  const rest = names.filter((name) => !isLoss(name)).sort((a, b) => rank(a) - rank(b));
  rest.forEach((name) => new Chart(parent, titleOf(name), [{name: titleOf(name), curve: curves[name], colour: colourOf(isSpeed(name) ? 2 : 0)}], {log: ['grad_norm', 'update_ratio', 'noise_scale'].includes(name), whole: name === 'learning_rate'}));
}

function makeControls(parent) {
  const controls = make(parent, 'div', {className: 'controls'});
  const smooth = make(make(controls, 'label', {}, 'smoothing'), 'input', {type: 'range', min: 0, max: 0.99, step: 0.01, value: view.smooth});
  smooth.oninput = () => { view.smooth = Number(smooth.value); redraw(); };
  make(controls, 'button', {onclick: () => { view.range = null; redraw(); }}, 'all steps');
  make(controls, 'span', {className: 'faint'}, 'drag over a chart to zoom in');
  if (!runs.some((run) => run.state === 'running')) return;
  const reload = make(make(controls, 'label'), 'input', {type: 'checkbox', checked: view.reload});
  reload.parentNode.append('reload every 10 s');
  reload.onchange = () => { view.reload = reload.checked; redraw(); };
  setInterval(() => { if (view.reload) location.reload(); }, 10000);
}
