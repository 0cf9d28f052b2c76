// --- The page ------------------------------------------------------------------------------

function stateOf(run) {
  const parts = [run.state || 'of an older version'];
  if (run.step !== undefined) parts.push(`step ${format(run.step)}` + (run.total_steps > run.step ? ` of ${format(run.total_steps)}` : ''));
  if (run.skipped_steps) parts.push(`${format(run.skipped_steps)} skipped steps`);
  if (run.best) parts.push(`best ${run.best.name || 'validation'} ${format(run.best.value, 6)} at step ${format(run.best.step)}`);
  if (run.seconds !== undefined) parts.push(formatSeconds(run.seconds));
  return parts.join(' · ');
}

function makeSettings(parent, title, settings) {
  const entries = Object.entries(settings || {});
  if (entries.length === 0) return;
  const box = make(parent, 'div');
  make(box, 'h3', {}, title);
  const table = makeTable(box, ['name', 'value'], entries.map(([name]) => [name, '']));
  // Lists, such as the characters of a vocabulary, have an entry a line.
  entries.forEach(([, value], i) => make(table.tBodies[0].rows[i].cells[1], 'div', {className: 'long'}, String(value).replace(/\s*\n\s*/g, ' ')));
}

function makeRunPage(run) {
  make(main, 'h1', {}, run.name);
  make(main, 'p', {className: 'state'}, stateOf(run));
  if (run.warnings && run.warnings.length) {
    const box = make(main, 'div', {className: 'warnings', role: 'alert'});
    for (const {step, text} of run.warnings) make(box, 'div', {}, `Step ${format(step)}: ${text}`);
  }
  makeControls(main);
  makeCharts(make(main, 'div', {className: 'charts'}));
  if (run.examples && run.examples.length) makeExamples(run.examples);
  for (const {title, blocks} of run.sections || []) makeBlocks(section(title), blocks);
  const about = make(section('Settings'), 'div', {className: 'settings'});
  makeSettings(about, 'Configuration', run.configuration);
  makeSettings(about, 'Training', run.training);
  makeSettings(about, 'Data', run.data);
  makeSettings(about, 'Options', run.notes);
  makeSettings(about, 'Machine and version', {weft: run.weft, started: run.started, threads: run.threads, processes: run.processes, ...run.machine});
  if (run.model) {
    const model = section('Model');
    const parameters = run.model.parameters || [];
    const count = parameters.reduce((sum, row) => sum + Number(row[2]), 0);
    const frozen = parameters.reduce((sum, row) => sum + (row[3] === 'frozen' ? Number(row[2]) : 0), 0);
    make(model, 'p', {}, `${format(count)} parameters in ${format(parameters.length)} tensors` + (frozen > 0 ? `, of which ${format(frozen)} are frozen` : ''));
    makeTable(model, ['parameter', 'shape', 'count', ''], parameters.map(([name, shape, size, state]) => [name, shape, Number(size), state]));
    const tree = make(model, 'details');
    make(tree, 'summary', {}, 'the tree of layers');
    make(tree, 'pre', {}, run.model.tree || '');
  }
  if (run.command) {
    const again = section('The command that repeats it');
    make(again, 'pre', {}, `cd ${run.directory}\n${run.command}`);
    for (const {step, command, changes} of run.resumed || []) {
      make(again, 'p', {className: 'faint'}, `resumed at step ${format(step)}: ${command}`);
      for (const change of changes || []) make(again, 'p', {className: 'faint'}, change);
    }
  }
}

// The values of a setting of several runs, undefined where there is none: if all of `count` runs with
// settings list as many parts, separated by commas, only the parts that differ.
function differingParts(values, count) {
  const parts = values.map((value) => value?.replace(/\s+/g, ' ').split(', '));
  const known = parts.filter(Boolean);
  const isList = known.length === count && new Set(known.map((list) => list.length)).size === 1;
  return parts.map((list) => list?.filter((part, k) => !isList || known.some((other) => other[k] !== part)).join(', '));
}

// The results come first, then the settings that differ.
function makeComparison() {
  make(main, 'h1', {}, `${runs.length} runs`);
  const settings = runs.map((run) => new Map([run.notes, run.data, run.training, run.configuration].flatMap((group) => Object.entries(group || {}))));
  const known = settings.filter((s) => s.size > 0);
  const all = runs.flatMap((run) => [run.configuration, run.training, run.data, run.notes].flatMap((group) => Object.keys(group || {})));
  const names = [...new Set(all)].filter((name) => new Set(known.map((s) => s.get(name))).size > 1);
  const columns = names.map((name) => differingParts(settings.map((s) => s.get(name)), known.length));
  const table = makeTable(main, ['run', 'state', 'best', 'at step', 'steps done', 'time', ...names], runs.map((run, i) => [
    run.name, run.state || '', run.best ? run.best.value : '', run.best ? run.best.step : '', run.step ?? '',
    run.seconds === undefined ? '' : formatSeconds(run.seconds), ...columns.map((values) => values[i])]), 6);
  table.className = 'compact';
  for (const cell of table.querySelectorAll('td')) if (cell.textContent.length > 24) cell.classList.add('wide');
  makeControls(main);
  const legend = makeLegend(main, runs.map((run, i) => ({name: run.name, colour: colourOf(i), dash: dashOf(i)})));
  charts.push({draw: () => legend.update()});
  makeCharts(make(main, 'div', {className: 'charts'}));
}

document.title = isComparison ? `${runs.length} runs` : `${runs[0].name} – ${runs[0].state || 'weft'}`;
isComparison ? makeComparison() : makeRunPage(runs[0]);
redraw();
addEventListener('resize', redraw);
addEventListener('beforeprint', () => { for (const details of document.querySelectorAll('details')) details.open = true; });
