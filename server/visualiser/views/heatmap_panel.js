// One picture of a table with axes, a training length, a crosshair and a highlighted column.
import {scaleLinear} from 'd3-scale';
import {h} from '../dom.js';
import {countText} from '../lists.js';
import {brief, clamp, countedFrom, originOf} from '../numbers.js';
import {coverOf, paint, spansOf} from '../raster.js';

export const MARGIN = {top: 6, right: 8, bottom: 34, left: 64};
const FONT = '12px system-ui, sans-serif';

const nameOf = ({title, explained}) => explained ?? title;

// The colours of a scale from its least to its greatest value.
export function scaleBar({words, domain: [from, to]}, before = '') {
    const bar = h('canvas', {
        class: 'bar',
        'aria-hidden': 'true',
        width: words.length / 4,
        height: 1,
    });
    const image = new ImageData(words.length / 4, 1);
    new Uint32Array(image.data.buffer).set(words.filter((_, i) => i % 4 === 0));
    bar.getContext('2d').putImageData(image, 0, 0);
    return h('span', {class: 'scale'}, before, brief(from), bar, brief(to));
}

// ---- drawing: `plot` is {table, title, scale, colours, mark, sameness, flat, ratio, size,
// canvas, painted} ----

// Numbers beside those cells of a span that ticks fall on: `write(pixel, text)`.
function label(span, pixels, axis, write) {
    const scaled = scaleLinear(span, [0, pixels]);
    const seen = new Set();
    for (const tick of scaled.ticks(Math.max(2, pixels / 60))) {
        const cell = Math.round(tick);
        if (seen.has(cell) || cell < span[0] || cell >= span[1]) continue;
        seen.add(cell);
        write(scaled(cell + 0.5), brief(axis.at(cell) - axis.origin));
    }
}

function drawAxes(context, {table, size, colours}, view) {
    const [row, column] = [table.row, table.column].map((axis, i) => {
        const origin = originOf(
            axis.at(0),
            axis.at((i === 0 ? table.rows : table.columns) - 1),
        );
        return {...axis, origin, name: countedFrom(nameOf(axis), origin)};
    });
    context.font = FONT;
    context.fillStyle = colours.quiet;
    context.textAlign = 'center';
    context.textBaseline = 'top';
    if (column.title)
        label(view.columns, size.width, column, (x, text) =>
            context.fillText(text, clamp(x, 0, size.width), size.height + 4),
        );
    context.fillText(column.name || 'one column', size.width / 2, size.height + 18);
    context.textAlign = 'right';
    context.textBaseline = 'middle';
    label(view.rows, size.height, row, (y, text) =>
        context.fillText(text, -6, clamp(y, 5, size.height - 5)),
    );
    context.save();
    context.translate(-MARGIN.left + 8, size.height / 2);
    context.rotate(-Math.PI / 2);
    context.textAlign = 'center';
    context.fillText(row.name, 0, 0);
    context.restore();
}

// In the middle of a picture that has one colour.
function tellSameness(context, {sameness, size, colours}) {
    context.fillStyle = colours.ink;
    context.textAlign = 'center';
    context.textBaseline = 'middle';
    if (context.measureText(sameness).width < size.width)
        context.fillText(sameness, size.width / 2, size.height / 2);
}

// The pixel of an axis where the positions reach the training length, or null.
export function markOn(mark, axis, extent, [from, to], pixels) {
    if (mark == null || !['n', 'queries', 'keys'].includes(axis.axis)) return null;
    let cell = 0;
    while (cell < extent && axis.at(cell) < mark) cell++;
    const at = ((cell - from) / (to - from)) * pixels;
    return cell === 0 || cell === extent || at < 0 || at > pixels ? null : at;
}

// A line there: of matrices of positions with positions, one of each axis.
function markLine(context, {table, size, colours, mark}, view) {
    const x = markOn(mark, table.column, table.columns, view.columns, size.width);
    const y = markOn(mark, table.row, table.rows, view.rows, size.height);
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

function frame(context, colours, x, y, width, height) {
    for (const [colour, line] of [
        [colours.paper, 4],
        [colours.ink, 2],
    ]) {
        context.strokeStyle = colour;
        context.lineWidth = line;
        context.strokeRect(x, y, width, height);
    }
}

function crosshair(context, {table, size, colours}, view, cell) {
    if (!cell || cell.row >= table.rows || cell.column >= table.columns) return;
    const along = ([start, end], pixels, at) => ((at - start) / (end - start)) * pixels;
    const x = along(view.columns, size.width, cell.column),
        y = along(view.rows, size.height, cell.row);
    const width = Math.max(3, along(view.columns, size.width, cell.column + 1) - x);
    const height = Math.max(3, along(view.rows, size.height, cell.row + 1) - y);
    frame(context, colours, x, y, width, height);
}

// Lines along a column that is highlighted.
function frameColumn(context, {table, size, colours}, {columns: [from, to]}, column) {
    if (column == null || column >= table.columns) return;
    const pixel = size.width / (to - from);
    frame(context, colours, (column - from) * pixel, -4, Math.max(3, pixel), size.height + 8);
}

// The cells as pixels; a crosshair that moves leaves them as they are.
function drawCells(context, plot, view) {
    const {table, scale, colours, flat, ratio, size} = plot;
    const wide = Math.round(size.width * ratio),
        high = Math.round(size.height * ratio);
    const place = [wide, high, ...view.columns, ...view.rows].join();
    if (place !== plot.painted.place) {
        const across = spansOf(wide, view.columns, table.columns),
            down = spansOf(high, view.rows, table.rows);
        plot.painted = {
            place,
            picture: new ImageData(wide, high),
            cover: flat ? '' : coverOf(across, down),
        };
        paint(
            plot.painted.picture,
            table,
            flat ? {word: () => colours.flatWord} : scale,
            across,
            down,
        );
    }
    context.putImageData(
        plot.painted.picture,
        Math.round(MARGIN.left * ratio),
        Math.round(MARGIN.top * ratio),
    );
}

function draw(plot, view, {cell, column}, context = plot.canvas.getContext('2d')) {
    const {canvas, flat, ratio, size} = plot;
    canvas.redraw = (other) => draw(plot, view, {cell: null, column}, other); // see vector.js
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, canvas.width, canvas.height);
    drawCells(context, plot, view);
    context.setTransform(ratio, 0, 0, ratio, MARGIN.left * ratio, MARGIN.top * ratio);
    drawAxes(context, plot, view);
    if (flat) tellSameness(context, plot);
    context.save();
    context.beginPath();
    context.rect(0, 0, size.width, size.height);
    context.clip();
    markLine(context, plot, view);
    frameColumn(context, plot, view, column);
    crosshair(context, plot, view, cell);
    context.restore();
}

// A description for screen readers.
function labelOf({table, title, sameness, choosable}) {
    const [least, most] = table.extent;
    const {rows, columns, row, column} = table;
    const by = column.title ? countText(columns, column.title) : 'one column';
    return (
        `${title}: ${row.title ? `${countText(rows, row.title)} by ${by}` : 'one value'}, ` +
        `${sameness || `values from ${brief(least)} to ${brief(most)}`}. Arrow keys move the ` +
        'crosshair, plus and minus zoom, 0 shows ' +
        `all${choosable ? ', Enter highlights a column in all views' : ''}.`
    );
}

// A picture's element, and {resize(width, height), draw(view, {cell, column}), cover(): what to
// say of pixels that cover several values}. `view` is what all panels share: {columns, rows:
// [from, to)}. `column` is highlighted. `sameness` is what is said instead of a scale where the
// values have no range, or ''; `choosable` says whether columns can be highlighted.
export function createPanel(table, title, scale, {colours, mark, sameness, choosable}) {
    const canvas = h('canvas', {
        tabindex: 0,
        role: 'application',
        'aria-roledescription': 'heatmap',
        class: 'plot',
    });
    const element = h(
        'figure',
        {class: 'panel'},
        h(
            'figcaption',
            {},
            h('span', {}, title),
            sameness ? h('span', {class: 'quiet'}, sameness) : scaleBar(scale),
        ),
        canvas,
    );
    const plot = {
        table,
        title,
        scale,
        colours,
        mark,
        sameness,
        choosable,
        canvas,
        flat: scale.invented && table.constant !== null,
        ratio: Math.min(devicePixelRatio || 1, 2),
        size: {width: 0, height: 0},
        painted: {place: '', picture: null, cover: ''},
    };
    canvas.setAttribute('aria-label', labelOf(plot));

    function resize(width, height) {
        plot.size = {width, height};
        canvas.width = Math.round((width + MARGIN.left + MARGIN.right) * plot.ratio);
        canvas.height = Math.round((height + MARGIN.top + MARGIN.bottom) * plot.ratio);
        element.style.width = canvas.style.width = `${width + MARGIN.left + MARGIN.right}px`;
        canvas.style.height = `${height + MARGIN.top + MARGIN.bottom}px`;
    }
    return {
        element,
        canvas,
        resize,
        draw: (view, shown) => draw(plot, view, shown),
        cover: () => plot.painted.cover,
    };
}
