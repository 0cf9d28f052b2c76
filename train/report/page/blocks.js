// --- Blocks: texts, tables, confusion tables, attention --------------------------------------

const blockMakers = {
  text(parent, block) { make(parent, 'pre', {}, block.text); },
  preformatted(parent, block) { make(parent, 'pre', {className: 'lines'}, block.text); },

  table(parent, block) { makeTable(parent, block.columns, block.cells); },

  confusion(parent, block) {
    const table = makeTable(parent, ['is ↓ taken for →', ...block.rows], []);
    block.cells.forEach((cells, i) => {
      const line = make(table.tBodies[0], 'tr'), sum = cells.reduce((a, b) => a + b, 0) || 1;
      make(line, 'th', {}, block.rows[i]);
      cells.forEach((count, j) => {
        const share = Math.round(60 * count / sum);
        make(line, 'td', {className: 'number', style: `background: color-mix(in srgb, var(--c${i === j ? 0 : 1}) ${share}%, var(--page))`}, format(count));
      });
    });
  },

  attention(parent, block) {
    const maps = make(parent, 'div', {className: 'maps'});
    for (const map of block.maps) makeMap(maps, block, map);
  },

  flame(parent, block) {
    make(parent, 'p', {className: 'faint'}, 'Width is time, of all threads together; below each layer are the layers and operations within it. The stronger the colour, the nearer to what the machine can do. A click enlarges a layer, one on the top row goes back.');
    const root = treeOf(block), box = make(parent, 'div', {className: 'charts'});
    for (const [direction, name] of ['forward', 'backward'].entries())
      if (root.sums[direction] > 0) charts.push(new FlameGraph(box, name, root, direction));
  },
};

const viridis = [[68, 1, 84], [59, 81, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]];
const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

function colourOfWeight(weight) {
  const at = Math.min(weight * 4, 3.999), i = Math.floor(at), part = at - i;
  return viridis[i].map((value, k) => value + part * (viridis[i + 1][k] - value));
}

function makeMap(parent, block, map) {
  const [rows, columns] = [block.rows.length, block.columns.length];
  const canvas = document.createElement('canvas');
  [canvas.width, canvas.height] = [columns, rows];
  const context = canvas.getContext('2d'), pixels = context.createImageData(columns, rows);
  [...map.levels].forEach((digit, i) => pixels.data.set([...colourOfWeight(digits.indexOf(digit) / 63), 255], 4 * i));
  context.putImageData(pixels, 0, 0);
  const cell = Math.max(3, Math.min(14, 480 / Math.max(rows, columns)));
  const longest = (names) => Math.max(1, ...names.map((name) => [...name].length));
  // Names are left out where they would overlap.
  const size = cell >= 8 ? Math.min(11, cell) : 0;
  const isUpright = longest(block.columns) > 1;
  const left = 4 + size * 0.62 * Math.min(12, longest(block.rows)), top = 20 + (isUpright ? size * 0.62 * Math.min(12, longest(block.columns)) : size);
  const [width, height] = [Math.max(left + cell * columns + 2, 6.4 * [...map.title].length), top + cell * rows + 2];
  const svg = makeSvg(parent, 'svg', {width, height, viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': map.title});
  makeSvg(svg, 'text', {x: 0, y: 11, 'font-size': 11}, map.title);
  makeSvg(svg, 'image', {x: left, y: top, width: cell * columns, height: cell * rows, preserveAspectRatio: 'none', href: canvas.toDataURL(), style: 'image-rendering: pixelated'});
  const short = (name) => [...name].slice(0, 12).join('');
  if (size > 0) {
    block.rows.forEach((name, i) => makeSvg(svg, 'text', {x: left - 3, y: top + cell * (i + 0.5) + size / 3, 'text-anchor': 'end', 'font-size': size}, short(name)));
    block.columns.forEach((name, i) => {
      const x = left + cell * (i + 0.5), y = top - 3;
      makeSvg(svg, 'text', isUpright ? {x: 0, y: size / 3, transform: `translate(${x} ${y}) rotate(-90)`, 'font-size': size} : {x, y, 'text-anchor': 'middle', 'font-size': size}, short(name));
    });
  }
  const title = makeSvg(svg, 'title');
  svg.addEventListener('pointermove', (event) => {
    const box = svg.getBoundingClientRect(), scale = width / box.width;
    const i = Math.floor(((event.clientY - box.top) * scale - top) / cell), j = Math.floor(((event.clientX - box.left) * scale - left) / cell);
    const isInside = i >= 0 && i < rows && j >= 0 && j < columns;
    title.textContent = isInside ? `${block.rows[i]} → ${block.columns[j]}: ${(digits.indexOf(map.levels[i * columns + j]) / 63).toFixed(2)}` : '';
  });
}

function makeBlocks(parent, blocks) {
  for (const block of blocks) {
    make(parent, 'h3', {}, block.title);
    const maker = blockMakers[block.kind];
    maker ? maker(parent, block) : make(parent, 'p', {className: 'faint'}, `a block of the unknown kind ${block.kind}`);
    if (block.left_out > 0) make(parent, 'p', {className: 'faint'}, `${format(block.left_out)} more are not shown`);
  }
}

// The examples of each validation, the last one first.
function makeExamples(examples) {
  const parent = section('Examples');
  const label = make(make(parent, 'div', {className: 'controls'}), 'label', {}, 'at step');
  const select = make(label, 'select');
  examples.forEach(({step}, i) => make(select, 'option', {value: i}, format(step)));
  const content = make(parent, 'div');
  select.onchange = () => { content.replaceChildren(); makeBlocks(content, examples[select.value].blocks); };
  select.value = examples.length - 1;
  select.onchange();
}
