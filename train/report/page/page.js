// --- The page ------------------------------------------------------------------------------

function stateOf(run) {
  const parts = [run.state || 'of an older version'];
  if (run.step !== undefined) parts.push(`step ${format(run.step)}` + (run.total_steps > run.step ? ` of ${format(run.total_steps)}` : ''));
  if (run.best) parts.push(`best ${run.best.name || 'validation'} ${format(run.best.value)} at step ${format(run.best.step)}`);
  if (run.seconds !== undefined) parts.push(formatSeconds(run.seconds));
  return parts.join(' · ');
}

function makeSettings(parent, title, settings) {
  const entries = Object.entries(settings || {});
  if (entries.length === 0) return;
  const box = make(parent, 'div');
  make(box, 'h3', {}, title);
  const table = makeTable(box, ['name', 'value'], entries.map(([name]) => [name, '']));
  entries.forEach(([, value], i) => make(table.tBodies[0].rows[i].cells[1], 'div', {className: 'long'}, String(value)));
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
    const count = run.model.parameters.reduce((sum, row) => sum + Number(row[2]), 0);
    const frozen = run.model.parameters.reduce((sum, row) => sum + (row[3] === 'frozen' ? Number(row[2]) : 0), 0);
    make(model, 'p', {}, `${format(count)} parameters in ${format(run.model.parameters.length)} tensors` + (frozen > 0 ? `, of which ${format(frozen)} are frozen` : ''));
    makeTable(model, ['parameter', 'shape', 'count', ''], run.model.parameters.map(([name, shape, size, state]) => [name, shape, Number(size), state]));
    const tree = make(model, 'details');
    make(tree, 'summary', {}, 'the tree of layers');
    make(tree, 'pre', {}, run.model.tree);
  }
  if (run.command) {
    const again = section('The command that repeats it');
    make(again, 'pre', {}, `cd ${run.directory}\n${run.command}`);
    for (const {step, command} of run.resumed || []) make(again, 'p', {className: 'faint'}, `resumed at step ${format(step)}: ${command}`);
  }
}

// The settings that differ come first.
function makeComparison() {
  make(main, 'h1', {}, `${runs.length} runs`);
  const settings = runs.map((run) => ({...run.configuration, ...run.training, ...run.data, ...run.notes}));
  const known = settings.filter((s) => Object.keys(s).length > 0);
  const names = [...new Set(known.flatMap(Object.keys))].filter((name) => new Set(known.map((s) => s[name])).size > 1);
  const table = makeTable(main, ['run', ...names, 'best', 'at step', 'steps', 'time', 'state'], runs.map((run, i) => [
    run.name, ...names.map((name) => settings[i][name]?.replace(/\s+/g, ' ').slice(0, 60)), run.best ? run.best.value : '', run.best ? run.best.step : '',
    run.step ?? '', run.seconds === undefined ? '' : formatSeconds(run.seconds), run.state || '']));
  table.className = 'compact';
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
