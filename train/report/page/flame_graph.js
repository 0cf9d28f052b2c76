// --- Flame graphs --------------------------------------------------------------------------

// Sums are those of the cells of a block: milliseconds of forward and of backward, GFLOP, and the
// milliseconds that the machine needs at least.
function treeOf(block) {
  const newNode = (name, path, parent) => ({name, path, parent, sums: [0, 0, 0, 0], children: new Map()});
  const root = newNode('model', 'model', null);
  block.rows.forEach((row, i) => {
    const [layer, operation] = row.split(' ');
    let node = root;
    const add = () => block.cells[i].forEach((value, k) => { node.sums[k] += value; });
    add();
    for (const part of [...layer.split('.').filter(Boolean), operation]) {
      if (!node.children.has(part)) node.children.set(part, newNode(part, node === root ? part : `${node.path}.${part}`, node));
      node = node.children.get(part);
      add();
    }
  });
  return root;
}

// An icicle: the layers within a layer are below it.
class FlameGraph {
  constructor(parent, name, root, direction) {
    [this.top, this.direction, this.all] = [root, direction, root.sums[0] + root.sums[1]];
    this.box = make(parent, 'div', {className: 'chart wide'});
    make(make(this.box, 'header'), 'strong', {}, `${name}: ${format(root.sums[direction])} ms of a step`);
    this.svg = makeSvg(this.box, 'svg', {class: 'flame', role: 'img', 'aria-label': `time of ${name} by layer`});
    this.tip = make(this.box, 'div', {className: 'tip', hidden: true});
    this.svg.addEventListener('pointerleave', () => { this.tip.hidden = true; });
  }

  draw() {
    this.width = Math.max(240, this.svg.clientWidth || 600);
    this.rows = 0;
    this.svg.replaceChildren();
    this.drawNode(this.top, 0, this.width, 0);
    this.svg.setAttribute('viewBox', `0 0 ${this.width} ${22 * this.rows}`);
  }

  drawNode(node, left, width, row) {
    if (width < 0.5) return;
    this.rows = Math.max(this.rows, row + 1);
    const time = node.sums[0] + node.sums[1];
    const colour = `color-mix(in srgb, var(--c0) ${Math.round(5 + 45 * Math.min(1, node.sums[3] / time))}%, var(--box))`;
    const group = makeSvg(this.svg, 'g', {transform: `translate(${left.toFixed(1)} ${22 * row})`});
    makeSvg(group, 'rect', {width: Math.max(0.5, width - 1).toFixed(1), height: 21, style: `fill: ${colour}`, 'data-path': node.path});
    const letters = Math.floor((width - 6) / 7.2);
    if (letters > 1) makeSvg(group, 'text', {x: 4, y: 15}, [...node.name].slice(0, letters).join(''));
    group.addEventListener('pointermove', () => this.show(node, left));
    group.addEventListener('click', () => {
      this.top = node === this.top ? node.parent || node : node;
      this.tip.hidden = true;
      this.draw();
    });
    for (const child of node.children.values()) {
      const share = width * child.sums[this.direction] / node.sums[this.direction];
      this.drawNode(child, left, share, row + 1);
      left += share;
    }
  }

  show(node, left) {
    const own = node.sums[this.direction], time = node.sums[0] + node.sums[1];
    this.tip.replaceChildren();
    for (const line of [node.path, `${format(own)} ms, ${(100 * time / this.all).toFixed(1)} % of the step with ${format(time)} ms of both`,
      `${(node.sums[2] / time * 1e3).toFixed(1)} GFLOP/s, ${Math.round(100 * Math.min(1, node.sums[3] / time))} % of the limit`]) make(this.tip, 'div', {}, line);
    const isLeft = left < this.width / 2;
    this.tip.style.left = isLeft ? '16px' : '';
    this.tip.style.right = isLeft ? '' : '16px';
    this.tip.style.bottom = '100%';
    this.tip.hidden = false;
  }
}
