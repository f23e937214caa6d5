// A small heatmap for each head, with one crosshair in all of them.
import {clamp} from '../numbers.js';
import {h, gridMove, isModified} from '../dom.js';
import {coverOf, paint, spansOf} from '../raster.js';
import {markOn} from './heatmap_panel.js';

const GAP = 10;
const WIDE = 320,
    NARROW = 104; // pixels of a map at most and at least
const FEW = 8; // up to as many stand in rows of four
const AROUND = 150; // pixels that controls, notes and titles take of the height
const LINE_HEIGHT = 22; // of planes that are a single row

// Up to eight maps in rows of four that fit the screen, more in longer rows.
function sizeOf({rows, columns}, {width, height}, count) {
    const across = Math.min(
        count,
        width < 500
            ? 2
            : count <= FEW
              ? 4
              : clamp(Math.floor((width + GAP) / (NARROW + 36 + GAP)), 4, 8),
    );
    // two rows at once
    const tall = Math.max(NARROW, (height - AROUND) / 2) * Math.max(1, columns / rows);
    const wide = Math.floor(clamp((width + GAP) / across - GAP, NARROW, Math.min(WIDE, tall)));
    return {
        wide,
        high:
            rows === 1
                ? LINE_HEIGHT
                : Math.round(clamp((wide * rows) / columns, 24, wide * 1.25)),
    };
}

function createMap(set, index, {wide, high}, {colours, mark}) {
    const ratio = Math.min(devicePixelRatio || 1, 2);
    const [least, most] = [Math.round(wide * ratio), Math.round(high * ratio)];
    const name = `${set.letter && `${set.letter}, `}${set.title} ${set.label(index)}`;
    const canvas = h('canvas', {
        class: 'plot',
        tabindex: -1,
        role: 'application',
        'aria-roledescription': 'heatmap',
        width: least,
        height: most,
        'aria-label':
            `${name}: ${set.rows} by ${set.columns} values. Arrow keys move the ` +
            'crosshair in all of them, Enter opens the heatmap.',
    });
    canvas.style.width = `${wide}px`;
    canvas.style.height = `${high}px`;
    const picture = new ImageData(least, most);
    const across = spansOf(least, [0, set.columns], set.columns),
        down = spansOf(most, [0, set.rows], set.rows);
    paint(
        picture,
        {data: set.planes.get(index), columns: set.columns},
        set.scaleAt(index),
        across,
        down,
    );

    function draw(cell) {
        const context = canvas.getContext('2d');
        context.setTransform(1, 0, 0, 1, 0, 0);
        context.putImageData(picture, 0, 0);
        context.setTransform(ratio, 0, 0, ratio, 0, 0);
        const x = markOn(mark, set.column, set.columns, [0, set.columns], wide),
            y = set.row && markOn(mark, set.row, set.rows, [0, set.rows], high);
        context.fillStyle = colours.mark;
        if (x != null) context.fillRect(x - 0.75, 0, 1.5, high);
        if (y != null) context.fillRect(0, y - 0.75, wide, 1.5);
        if (!cell || cell.row >= set.rows || cell.column >= set.columns) return;
        const width = wide / set.columns,
            height = high / set.rows;
        for (const [colour, line] of [
            [colours.paper, 4],
            [colours.ink, 1.5],
        ]) {
            context.strokeStyle = colour;
            context.lineWidth = line;
            context.strokeRect(
                cell.column * width - 1,
                cell.row * height - 1,
                Math.max(3, width + 2),
                Math.max(3, height + 2),
            );
        }
    }
    draw(null);
    const value = h('span', {class: 'heads-value'});
    const element = h(
        'figure',
        {class: 'heads-map'},
        h(
            'figcaption',
            {},
            h(
                'span',
                {},
                [`${set.title} ${set.label(index)}`, set.given(index)]
                    .filter(Boolean)
                    .join(' · '),
            ),
            value,
        ),
        canvas,
    );
    element.style.width = `${wide}px`;
    return {
        canvas,
        index,
        set,
        size: {wide, high},
        element,
        cover: coverOf(across, down),
        show(cell) {
            draw(cell);
            value.textContent = cell ? set.text(index, cell.row, cell.column) : '';
        },
    };
}

// context: what render got, and {sets, indices, point(cell), open(cell)}.
export function createMaps(context) {
    const {sets, apart, indices, point, open, signal} = context;
    const sizeFor = (set) => sizeOf(apart ? set : sets[0], context, indices.length);
    const blocks = sets.map((set) => ({
        set,
        maps: indices
            .filter((index) => set.planes.has(index))
            .map((index) => createMap(set, index, sizeFor(set), context)),
    }));
    const maps = blocks.flatMap((block) => block.maps);
    const most = {
        rows: Math.max(...sets.map(({rows}) => rows)),
        columns: Math.max(...sets.map(({columns}) => columns)),
    };
    let cell = null;

    function move(to, index) {
        cell = to && {
            index,
            row: clamp(to.row, 0, most.rows - 1),
            column: clamp(to.column, 0, most.columns - 1),
        };
        maps.forEach((map) => map.show(cell));
        point(cell);
    }
    const cellAt = ({offsetX, offsetY}, {set, size}) => ({
        row: clamp(Math.floor((offsetY / size.high) * set.rows), 0, set.rows - 1),
        column: clamp(Math.floor((offsetX / size.wide) * set.columns), 0, set.columns - 1),
    });
    function press(event, {index}) {
        const step = gridMove(event);
        if (event.key === 'Enter' && !isModified(event))
            return open(cell ? {...cell, index} : {index, row: 0, column: 0});
        if (!step) return;
        event.preventDefault();
        const [down, right] = step;
        move(
            cell ? {row: cell.row + down, column: cell.column + right} : {row: 0, column: 0},
            index,
        );
    }
    for (const map of maps) {
        const {canvas, index} = map;
        canvas.addEventListener('pointermove', (event) => move(cellAt(event, map), index), {
            signal,
        });
        canvas.addEventListener('click', (event) => open({...cellAt(event, map), index}), {
            signal,
        });
        canvas.addEventListener('keydown', (event) => press(event, map), {signal});
        canvas.addEventListener(
            'focus',
            () => {
                if (canvas.matches(':focus-visible')) move(cell ?? {row: 0, column: 0}, index);
            },
            {signal},
        );
        canvas.tabIndex = 0;
    }
    return h(
        'div',
        {},
        ...blocks.map((block) =>
            h(
                'section',
                {class: 'heads-block'},
                block.set.heading ? h('h3', {}, block.set.heading) : null,
                h('div', {class: 'heads-maps'}, ...block.maps.map(({element}) => element)),
            ),
        ),
        h('p', {class: 'quiet heatmap-cover'}, maps.find(({cover}) => cover)?.cover),
    );
}
