// The heatmap: rows (mostly positions) downwards, columns (mostly dimensions) to the right. With two
// settings: both and their difference, on the same axes. Drawn pixel by pixel from the typed arrays, so
// its cost is that of the screen, not of the table.
import {scaleLinear} from 'd3-scale';
import {select} from 'd3-selection';
import {zoom as zoomBehaviour, zoomIdentity} from 'd3-zoom';
import {scaleOf} from '../colours.js';
import {h, later} from '../dom.js';
import {brief} from '../numbers.js';

const MARGIN = {top: 6, right: 8, bottom: 34, left: 64};
const AROUND = 100; // pixels that buttons, titles and axes take of the height
const LOW = 300;
const NARROW = 620; // below, panels stand one under the other
const SAMPLES = 4; // of each axis that one pixel averages at most
const FONT = '12px system-ui, sans-serif';

const clamp = (value, least, most) => Math.max(least, Math.min(value, most));

// Where each pixel of an axis begins in cells, for `pixels` pixels of a view [from, to).
export function edges(pixels, from, to, extent) {
  const at = new Float64Array(pixels + 1);
  for (let i = 0; i <= pixels; i++) at[i] = clamp(from + ((to - from) * i) / pixels, 0, extent);
  return at;
}

// The cells that pixel i shows: some of those it covers, or the one that contains it.
export function cellsOf(at, extent) {
  return Array.from({length: at.length - 1}, (_, i) => {
    const first = Math.min(Math.floor(at[i]), extent - 1);
    const last = Math.max(first + 1, Math.min(Math.floor(at[i + 1]), extent));
    const step = Math.max(1, Math.ceil((last - first) / SAMPLES));
    const cells = [];
    for (let cell = first; cell < last; cell += step) cells.push(cell);
    return cells;
  });
}

// Which pixels of an axis show the same single cell as the pixel before.
const repeats = (cells) => cells.map((each, i) => i > 0 && each.length === 1 && cells[i - 1].length === 1 && cells[i - 1][0] === each[0]);

export function paint(image, table, scale, columnCells, rowCells) {
  const words = new Uint32Array(image.data.buffer);
  const {data, columns} = table;
  const sameRow = repeats(rowCells), sameColumn = repeats(columnCells);
  for (let y = 0, at = 0; y < image.height; y++, at += image.width) {
    if (sameRow[y]) {
      words.copyWithin(at, at - image.width, at);
      continue;
    }
    for (let x = 0; x < image.width; x++) {
      if (sameColumn[x]) {
        words[at + x] = words[at + x - 1];
        continue;
      }
      let sum = 0;
      const across = columnCells[x], down = rowCells[y];
      for (let i = 0; i < down.length; i++)
        for (let k = 0; k < across.length; k++) sum += data[down[i] * columns + across[k]];
      words[at + x] = scale.word(across.length * down.length > 1 ? sum / (across.length * down.length) : sum);
    }
  }
}

// One picture of a table with axes. `view` is what all panels share: {columns, rows: [from, to)}.
function createPanel(table, title, scale, colours, mark) {
  const canvas = h('canvas', {tabindex: 0, role: 'application', 'aria-roledescription': 'heatmap', class: 'plot'});
  const bar = h('canvas', {class: 'bar', 'aria-hidden': 'true', width: scale.words.length / 4, height: 1});
  const image = new ImageData(scale.words.length / 4, 1);
  new Uint32Array(image.data.buffer).set(scale.words.filter((_, i) => i % 4 === 0));
  bar.getContext('2d').putImageData(image, 0, 0);
  const [from, to] = scale.domain;
  const element = h('figure', {class: 'panel'},
    h('figcaption', {}, h('span', {}, title), h('span', {class: 'scale'}, brief(from), bar, brief(to))), canvas);
  const ratio = Math.min(devicePixelRatio || 1, 2);
  const size = {width: 0, height: 0};
  let painted = {place: '', picture: null};

  function resize(width, height) {
    Object.assign(size, {width, height});
    canvas.width = Math.round((width + MARGIN.left + MARGIN.right) * ratio);
    canvas.height = Math.round((height + MARGIN.top + MARGIN.bottom) * ratio);
    element.style.width = canvas.style.width = `${width + MARGIN.left + MARGIN.right}px`;
    canvas.style.height = `${height + MARGIN.top + MARGIN.bottom}px`;
  }

  function axes(context, view) {
    context.font = FONT;
    context.fillStyle = colours.quiet;
    context.textAlign = 'center';
    context.textBaseline = 'top';
    const label = (span, pixels, axis, write) => {
      const scaled = scaleLinear(span, [0, pixels]);
      const seen = new Set();
      for (const tick of scaled.ticks(Math.max(2, pixels / 60))) {
        const cell = Math.round(tick);
        if (seen.has(cell) || cell < span[0] || cell >= span[1]) continue;
        seen.add(cell);
        write(scaled(cell + 0.5), brief(axis.at(cell)));
      }
    };
    label(view.columns, size.width, table.column, (x, text) => context.fillText(text, clamp(x, 0, size.width), size.height + 4));
    context.fillText(table.column.title, size.width / 2, size.height + 18);
    context.textAlign = 'right';
    context.textBaseline = 'middle';
    label(view.rows, size.height, table.row, (y, text) => context.fillText(text, -6, clamp(y, 5, size.height - 5)));
    context.save();
    context.translate(-MARGIN.left + 8, size.height / 2);
    context.rotate(-Math.PI / 2);
    context.textAlign = 'center';
    context.fillText(table.row.title, 0, 0);
    context.restore();
  }

  // The pixel of an axis where the positions reach the training length, or null.
  function markOn(axis, extent, [from, to], pixels) {
    if (mark == null || !['n', 'queries'].includes(axis.axis)) return null;
    let cell = 0;
    while (cell < extent && axis.at(cell) < mark) cell++;
    const at = ((cell - from) / (to - from)) * pixels;
    return cell === 0 || cell === extent || at < 0 || at > pixels ? null : at;
  }

  // A line there: of matrices of positions with positions, one of each axis.
  function markLine(context, view) {
    const x = markOn(table.column, table.columns, view.columns, size.width);
    const y = markOn(table.row, table.rows, view.rows, size.height);
    const text = `trained to ${brief(mark)}`;
    const wide = context.measureText(text).width + 8;
    const above = y > 20 ? y - 18 : y + 2;
    context.fillStyle = colours.paper;
    if (x != null) context.fillRect(x - 2, 0, 4, size.height);
    if (y != null) context.fillRect(0, y - 2, size.width, 4);
    if (y != null) context.fillRect(size.width - wide, above, wide, 16);
    context.fillStyle = colours.mark;
    if (x != null) context.fillRect(x - 1, 0, 2, size.height);
    if (y == null) return;
    context.fillRect(0, y - 1, size.width, 2);
    context.textAlign = 'right';
    context.textBaseline = 'middle';
    context.fillText(text, size.width - 4, above + 8);
  }

  function crosshair(context, view, cell) {
    if (!cell || cell.row >= table.rows || cell.column >= table.columns) return;
    const along = ([start, end], pixels, at) => ((at - start) / (end - start)) * pixels;
    const x = along(view.columns, size.width, cell.column), y = along(view.rows, size.height, cell.row);
    const width = Math.max(3, along(view.columns, size.width, cell.column + 1) - x);
    const height = Math.max(3, along(view.rows, size.height, cell.row + 1) - y);
    for (const [colour, line] of [[colours.paper, 4], [colours.ink, 2]]) {
      context.strokeStyle = colour;
      context.lineWidth = line;
      context.strokeRect(x, y, width, height);
    }
  }

  function draw(view, cell) {
    const context = canvas.getContext('2d');
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, canvas.width, canvas.height);
    const wide = Math.round(size.width * ratio), high = Math.round(size.height * ratio);
    const place = [wide, high, ...view.columns, ...view.rows].join();
    if (place !== painted.place) { // a crosshair that moves leaves the picture as it is
      painted = {place, picture: new ImageData(wide, high)};
      paint(painted.picture, table, scale, cellsOf(edges(wide, ...view.columns, table.columns), table.columns), cellsOf(edges(high, ...view.rows, table.rows), table.rows));
    }
    context.putImageData(painted.picture, Math.round(MARGIN.left * ratio), Math.round(MARGIN.top * ratio));
    context.setTransform(ratio, 0, 0, ratio, MARGIN.left * ratio, MARGIN.top * ratio);
    axes(context, view);
    context.save();
    context.beginPath();
    context.rect(0, 0, size.width, size.height);
    context.clip();
    markLine(context, view);
    crosshair(context, view, cell);
    context.restore();
  }

  function describe() {
    const [least, most] = table.extent;
    canvas.setAttribute('aria-label', `${title}: ${table.rows} rows of ${table.row.title} by ${table.columns} of ${table.column.title || 'one column'}, values from ${brief(least)} to ${brief(most)}. Arrow keys move the crosshair, plus and minus zoom, 0 shows all.`);
  }
  describe();
  return {element, canvas, table, size, resize, draw};
}

// A line of text about a cell.
export function describeCell(tables, difference, {row, column}) {
  const [table] = tables;
  const parts = [`${table.row.title} ${table.row.at(row)}`];
  if (table.column.title) parts.push(`${table.column.title} ${table.column.at(column)}`);
  const values = tables.map((each, i) => (row < each.rows && column < each.columns ? `${tables.length > 1 ? `${'AB'[i]} ` : 'value '}${each.text(row, column)}` : null));
  parts.push(...values.filter(Boolean));
  if (difference && row < difference.rows && column < difference.columns) parts.push(`difference ${difference.text(row, column)}`);
  const wavelengths = tables.map((each) => each.wavelengths?.[column]).filter((each) => Number.isFinite(each));
  if (wavelengths.length > 0) parts.push(`wavelength ${wavelengths.map(brief).join(' and ')}`);
  return parts.join(' · ');
}

// Views with their own matrices may pass `titles` of the panels, and `square` for cells that are as high as
// wide, for matrices that compare an axis with itself.
function render(container, {tables, difference, options, update, hover, mark, colours, signal, width, height, titles, square = false}) {
  const shared = scaleOf(colours, tables.map(({extent}) => extent));
  const shown = tables.map((table, i) => createPanel(table, titles?.[i] ?? (tables.length > 1 ? `${'AB'[i]}: ${table.settings.scheme}` : `${table.tensor.name}`), shared, colours, mark));
  if (difference) shown.push(createPanel(difference, 'A − B', scaleOf(colours, [difference.extent, difference.extent.map((value) => -value).reverse()]), colours, mark));
  const whole = {
    rows: Math.max(...tables.map(({rows}) => rows)),
    columns: Math.max(...tables.map(({columns}) => columns)),
  };
  let transform = zoomIdentity, cell = null, frame = 0;

  const buttons = h('div', {class: 'buttons', role: 'group', 'aria-label': 'Zoom'},
    h('button', {type: 'button', onclick: () => zoomBy(1.6)}, 'Zoom in'),
    h('button', {type: 'button', onclick: () => zoomBy(1 / 1.6)}, 'Zoom out'),
    h('button', {type: 'button', onclick: () => zoomTo(zoomIdentity)}, 'All'),
    h('span', {class: 'quiet'}, 'Click, then wheel to zoom, drag to pan, arrow keys for the crosshair.'));
  const panels = h('div', {class: 'panels'}, ...shown.map(({element}) => element));
  container.append(buttons, panels);

  const across = width < NARROW ? 1 : square ? Math.min(shown.length, 2) : shown.length; // squares grow downwards too
  const wide = Math.max(120, Math.floor(width / across) - MARGIN.left - MARGIN.right - (across > 1 ? 12 : 0));
  const even = square && whole.rows === whole.columns;
  const tall = Math.max(LOW, height - AROUND);
  const most = Math.min(even ? tall : wide, wide, Math.max(whole.columns * 24, 160)); // one column needs no whole page
  const high = even ? most : Math.min(tall, Math.max(whole.rows * 24, 96));
  shown.forEach((panel) => panel.resize(most, high));

  const scaleExtent = [1, Math.max(1, whole.rows / 4, whole.columns / 4)];
  const behaviour = zoomBehaviour()
    .scaleExtent(scaleExtent)
    .extent([[0, 0], [most, high]])
    .translateExtent([[0, 0], [most, high]])
    .filter((event) => !event.button && (event.type !== 'touchstart' || transform.k > 1 || event.touches.length > 1) && (event.type !== 'wheel' || event.ctrlKey || document.activeElement === event.target))
    .on('zoom', (event) => {
      if (event.transform === transform) return;
      follow(event.transform);
    });
  // The pointer's position is relative to the canvas; transforms are relative to the picture inside.
  function follow(to) {
    transform = to;
    panels.classList.toggle('zoomed', to.k > 1);
    for (const {canvas} of shown) canvas.__zoom = to; // d3's own place for it: panels stay linked
    redraw();
    remember();
  }
  const remember = later(() => {
    if (signal.aborted) return;
    const {k, x, y} = transform;
    update({zoom: k === 1 ? '' : [k, x / most, y / high].map((each) => Number(each.toFixed(5))).join()}, {quiet: true});
  }, 250);

  const zoomTo = (to) => select(shown[0].canvas).call(behaviour.transform, to);
  const zoomBy = (factor) => select(shown[0].canvas).call(behaviour.scaleBy, factor, cell ? pixelOf(cell) : [most / 2, high / 2]);
  const view = () => ({
    columns: [transform.invertX(0), transform.invertX(most)].map((x) => (x / most) * whole.columns),
    rows: [transform.invertY(0), transform.invertY(high)].map((y) => (y / high) * whole.rows),
  });
  const pixelOf = ({row, column}) => [transform.applyX(((column + 0.5) / whole.columns) * most), transform.applyY(((row + 0.5) / whole.rows) * high)];
  function redraw() {
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(() => shown.forEach((panel) => panel.draw(view(), cell)));
  }

  function point(at) {
    cell = at;
    hover(cell ? describeCell(tables, difference, cell) : '');
    redraw();
  }
  function cellAt(event) {
    const x = event.offsetX - MARGIN.left, y = event.offsetY - MARGIN.top;
    if (x < 0 || y < 0 || x >= most || y >= high) return null;
    const {rows, columns} = view();
    return {
      row: clamp(Math.floor(rows[0] + (y / high) * (rows[1] - rows[0])), 0, whole.rows - 1),
      column: clamp(Math.floor(columns[0] + (x / most) * (columns[1] - columns[0])), 0, whole.columns - 1),
    };
  }
  // Bring the crosshair's cell into view.
  function reveal() {
    const [x, y] = pixelOf(cell);
    if (x < 0 || y < 0 || x > most || y > high)
      select(shown[0].canvas).call(behaviour.translateTo, ((cell.column + 0.5) / whole.columns) * most, ((cell.row + 0.5) / whole.rows) * high);
  }
  const MOVES = {ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1], PageUp: [-16, 0], PageDown: [16, 0], Home: [0, -Infinity], End: [0, Infinity]};
  const KEYS = {'+': () => zoomBy(1.6), '=': () => zoomBy(1.6), '-': () => zoomBy(1 / 1.6), 0: () => zoomTo(zoomIdentity)};
  function press(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || !(event.key in MOVES || event.key in KEYS)) return;
    event.preventDefault();
    if (event.key in KEYS) return void KEYS[event.key]();
    const [down, right] = MOVES[event.key];
    const from = cell ?? {row: 0, column: 0};
    point(cell ? {row: clamp(from.row + down, 0, whole.rows - 1), column: clamp(from.column + right, 0, whole.columns - 1)} : from);
    reveal();
  }

  for (const {canvas} of shown) {
    select(canvas).call(behaviour).on('dblclick.zoom', null);
    canvas.addEventListener('pointermove', (event) => point(cellAt(event)), {signal});
    canvas.addEventListener('pointerleave', () => point(null), {signal});
    canvas.addEventListener('pointerdown', () => canvas.focus({preventScroll: true}), {signal});
    canvas.addEventListener('keydown', press, {signal});
  }
  Promise.all(tables.map(({wavelengthsKnown}) => wavelengthsKnown)).then(() => {
    if (!signal.aborted && cell) hover(describeCell(tables, difference, cell));
  });
  const [k, x, y] = (options.zoom ?? '').split(',').map(Number);
  if (k > 1 && Number.isFinite(x) && Number.isFinite(y)) zoomTo(zoomIdentity.translate(x * most, y * high).scale(clamp(k, ...scaleExtent)));
  shown.forEach((panel) => panel.draw(view(), cell));
  return () => cancelAnimationFrame(frame);
}

export default {
  name: 'heatmap',
  title: 'Heatmap',
  applies: ({shape}) => shape.length >= 1,
  render,
};
