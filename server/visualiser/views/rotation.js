// Rotations: pairs of columns as vectors in circles, as the position moves. With two settings
// both vectors of a pair stand in one circle, at the same position.
import {insteadOf, optionField, scrolled, tableOf} from '../controls.js';
import {later} from '../busy.js';
import {h, isModified, swatchOf} from '../dom.js';
import {highlighted} from '../highlight.js';
import {rotationNote} from '../notes.js';
import {brief, clamp, sixDigits} from '../numbers.js';
import {titlesOf} from '../schema.js';
import {beginningRow} from '../tables.js';
import {TRACE, coordinatesIn, createTurning} from '../turning.js';
import {drawDial} from './dial.js';

const DOZEN = 12;
const DIALS_MOST = 96;
const PATIENCE = 400; // milliseconds between two readouts while it plays
const SPEEDS = {
    1: '1 row a second',
    4: '4 rows a second',
    20: '20 rows a second',
    100: '100 rows a second',
    1000: '1000 rows a second',
};
const STANDARD_SPEED = '4';

const degrees = (turns) => {
    const text = (turns * 360).toFixed(1);
    return `${Number(text) === 0 ? '0.0' : text.replace('-', '−')}°`;
};
const wrapped = (turns) => turns - Math.round(turns);

// ---- which pairs ----

function chosenPairs(text, count) {
    const range = (n) => Array.from({length: Math.min(n, count)}, (_, i) => i);
    if (text === 'first') return range(DOZEN);
    if (text === 'all') return range(DIALS_MOST);
    if (/^\d+(,\d+)*$/.test(text ?? ''))
        return [...new Set(text.split(',').map(Number))]
            .filter((pair) => pair < count)
            .slice(0, DIALS_MOST);
    return count <= DOZEN
        ? range(count)
        : Array.from({length: DOZEN}, (_, i) => Math.round((i * (count - 1)) / (DOZEN - 1)));
}

const withPair = (pairs, pair) =>
    pair == null || pairs.includes(pair) ? pairs : [...pairs, pair].sort((a, b) => a - b);

function pairChooser(context, count) {
    const current = context.options['rotation.pairs'] ?? '';
    const choices = {'': count <= DOZEN ? `all ${count}` : `a dozen of ${count}, across`};
    if (count > DOZEN) choices.first = 'the first dozen';
    if (count > DOZEN)
        choices.all = count > DIALS_MOST ? `the first ${DIALS_MOST}` : `all ${count}`;
    if (/^\d+(,\d+)*$/.test(current)) choices[current] = current;
    return optionField(context, 'rotation.pairs', 'pairs', Object.entries(choices)).field;
}

// ---- one pair ----

// What is shown of a pair: {pair, position, vectors, apart: turns from B to A, or null,
// beyond}.
function stateOf(sides, pair, row, mark) {
    const position = sides[0].turning.at(row);
    const vectors = sides
        .filter(({turning}) => pair < turning.count)
        .map(({side, turning}) => {
            const at = turning.rowOf(position, row);
            return at < 0 ? null : {side, row: at, ...turning.vectorOf(pair, at)};
        })
        .filter(Boolean);
    const apart = vectors.length === 2 ? wrapped(vectors[0].angle - vectors[1].angle) : null;
    return {pair, position, vectors, apart, beyond: mark != null && position >= mark};
}

// The angle that a pair reached in training, in radians; null where that is a whole turn or
// unknown.
function trainedAngle({turning}, pair, mark) {
    const turns = (mark - 1) / turning.wavelengthOf(pair);
    return mark > 0 && turning.names[0] === 'cos' && turns < 1 ? turns * 2 * Math.PI : null;
}

const lettered = (sides, side) => (sides.length > 1 ? `${'AB'[side]} ` : '');

function describeState(sides, {pair, position, vectors, apart, beyond}) {
    const parts = [`pair ${pair}`, `position ${position}`];
    for (const {side, texts, length, angle} of vectors) {
        const {turning} = sides.find((each) => each.side === side);
        const wavelength = turning.wavelengthOf(pair);
        const wave = Number.isFinite(wavelength) ? `, wavelength ${brief(wavelength)}` : '';
        parts.push(
            `${lettered(sides, side)}${turning.names[0]} ${texts[0]}, ${turning.names[1]} ` +
                `${texts[1]}, length ${sixDigits(length)}, angle ${degrees(angle)}${wave}`,
        );
    }
    if (apart != null) parts.push(`A − B ${degrees(apart)}`);
    if (beyond) parts.push('beyond training');
    return parts.join(' · ');
}

function createDial(sides, pair, size, {colours, lit}) {
    const canvas = h('canvas', {'aria-hidden': 'true'});
    canvas.style.width = canvas.style.height = `${size}px`;
    const waves = h('span', {class: 'quiet'}),
        apart = h('span', {class: 'rotation-apart'});
    const element = h(
        'button',
        {
            type: 'button',
            class: `rotation-dial${lit ? ' highlighted' : ''}`,
            tabindex: -1,
            'aria-pressed': 'false',
        },
        canvas,
        h('span', {}, `pair ${pair}`),
        waves,
        sides.length > 1 ? apart : null,
    );
    element.style.width = `${size + 14}px`;
    function nameWaves() {
        const known = sides
            .map(({turning}) => turning.wavelengthOf(pair))
            .filter(Number.isFinite)
            .map(brief);
        waves.textContent = known.length > 0 ? `λ ${[...new Set(known)].join(' · ')}` : '';
    }
    nameWaves();
    return {
        pair,
        element,
        nameWaves,
        show(state, reach, mark) {
            const trained = mark == null ? null : trainedAngle(sides[0], pair, mark);
            drawDial(canvas, size, {...state, reach, trained}, colours);
            element.classList.toggle('beyond', state.beyond);
            apart.textContent = state.apart == null ? '–' : `A − B ${degrees(state.apart)}`;
        },
    };
}

// ---- numbers of all pairs ----

function numbersOf(sides, states) {
    const heads = [
        'pair',
        ...sides.flatMap(({side, turning}) =>
            [...turning.names, 'length', 'angle', 'wavelength'].map(
                (name) => lettered(sides, side) + name,
            ),
        ),
        ...(sides.length > 1 ? ['A − B'] : []),
    ];
    const rows = states.map(({pair, vectors, apart}) => {
        const cells = sides.flatMap(({side, turning}) => {
            const vector = vectors.find((each) => each.side === side);
            return vector
                ? [
                      ...vector.texts,
                      sixDigits(vector.length),
                      degrees(vector.angle),
                      brief(turning.wavelengthOf(pair)),
                  ]
                : Array(5).fill('–');
        });
        const between = apart == null ? '–' : degrees(apart);
        return [pair, ...cells, ...(sides.length > 1 ? [between] : [])];
    });
    return tableOf(heads, rows);
}

// ---- playing ----

// Advances by `speed()` rows a second; once a second for users who prefer reduced motion.
function createPlayer(speed, advance) {
    const calm = matchMedia('(prefers-reduced-motion: reduce)').matches;
    let playing = false,
        last = 0,
        carried = 0,
        timer = 0,
        frame = 0;
    const wait = () => {
        if (calm) timer = setTimeout(tick, 1000);
        else frame = requestAnimationFrame(tick);
    };
    function tick() {
        const now = performance.now();
        carried = calm ? speed() : carried + ((now - last) / 1000) * speed();
        last = now;
        const rows = Math.floor(carried);
        carried -= rows;
        if (rows > 0) advance(rows);
        if (playing) wait();
    }
    function stop() {
        playing = false;
        clearTimeout(timer);
        cancelAnimationFrame(frame);
    }
    function start() {
        stop();
        playing = true;
        last = performance.now();
        carried = 0;
        wait();
    }
    return {start, stop, playing: () => playing};
}

// ---- the view ----

function createControls(context, source, row, {go, toggle}) {
    const {mark, options, update} = context;
    const last = source.totalRows - 1;
    const play = h(
        'button',
        {type: 'button', 'aria-pressed': 'false', onclick: toggle},
        'Play',
    );
    const {field: speeds} = optionField(
        {options, update: (changes) => update(changes, {quiet: true})},
        'rotation.speed',
        'speed',
        Object.entries(SPEEDS),
        STANDARD_SPEED,
    );
    const slider = h('input', {
        type: 'range',
        min: 0,
        max: last,
        step: 1,
        value: 0,
        disabled: last === 0,
        'aria-label': 'position',
        oninput: () => go(Number(slider.value)),
    });
    const entry = h('input', {
        type: 'number',
        step: 'any',
        value: 0,
        onchange: () => go(source.rowOf(Number(entry.value))),
    });
    const told =
        insteadOf(options['rotation.position'], source.at(row), 'rotation-position') || '';
    const status = h('p', {class: 'rotation-status'});
    const track = h('div', {class: 'rotation-track'}, slider);
    const marked = mark == null ? -1 : source.rowOf(mark);
    if (marked > 0) {
        const tick = h('span', {class: 'rotation-mark', title: `trained to ${brief(mark)}`});
        tick.style.left = `calc(8px + ${marked / last} * (100% - 16px))`;
        track.append(tick);
    }
    const element = h(
        'div',
        {class: 'buttons rotation-controls'},
        play,
        speeds,
        h('label', {}, 'position ', entry),
        told,
        pairChooser(context, source.count),
    );
    const speed = () => Number(speeds.querySelector('select').value);
    return {element, track, status, play, slider, entry, told, speed};
}

// The longest vector of the pairs among the first rows, so that all circles have one scale.
function reachOf(sides, pairs, row) {
    let reach = 1;
    for (const {turning} of sides)
        for (const pair of pairs)
            if (pair < turning.count && row < turning.totalRows && turning.blockOf(row))
                reach = Math.max(reach, turning.vectorOf(pair, row).length);
    return reach;
}

function createSides({tables, load}, listeners) {
    const sides = tables
        .map((table, side) => ({side, table, names: coordinatesIn(table.tensor, table.scheme)}))
        .filter(({names}) => names);
    return sides.map(({side, table, names}) => ({
        side,
        table,
        turning: createTurning(table, names, {
            load: (options) => load(side, options),
            ...listeners,
        }),
    }));
}

function legendOf(sides, tables, colours, mark) {
    const entry = ({side}) =>
        h(
            'span',
            {},
            swatchOf(
                `rotation-swatch ${side ? 'square' : ''}`,
                side ? colours.right : colours.left,
            ),
            titlesOf(tables)[side],
        );
    const lacking =
        tables.length > sides.length
            ? h('span', {class: 'quiet'}, 'B has no cosines and sines of positions.')
            : null;
    const trained =
        mark == null
            ? null
            : h(
                  'span',
                  {class: 'quiet'},
                  `Shaded: the angles that ${tables.length > 1 ? 'A' : 'a pair'} reached ` +
                      `before position ${brief(mark)}, where that is less than a turn.`,
              );
    return h('p', {class: 'rotation-legend'}, ...sides.map(entry), lacking, trained);
}

const gridOf = (dials) =>
    h(
        'div',
        {
            class: 'rotation-dials',
            role: 'group',
            'aria-label':
                'Pairs as vectors in unit circles. Left and right choose a pair, up and down ' +
                'move the position.',
        },
        ...dials.map(({element}) => element),
    );

// What is on the screen: dials, controls and numbers at one row of the first side.
class Rotation {
    constructor(context) {
        const {options, colours, mark, width, update} = context;
        this.context = context;
        this.sides = createSides(context, {
            ready: () => this.draw(),
            failed: (error) => this.fail(error),
        });
        this.source = this.sides[0].turning;
        const column = highlighted(options, context.tables[this.sides[0].side]);
        const lit = column == null ? null : this.source.pairAt(column);
        this.pairs = withPair(chosenPairs(options['rotation.pairs'], this.source.count), lit);
        this.dials = this.pairs.map((pair) =>
            createDial(this.sides, pair, width < 500 ? 92 : 116, {colours, lit: pair === lit}),
        );
        this.first = beginningRow((row) => this.source.at(row), this.source.totalRows);
        this.row = Math.max(
            0,
            this.source.rowOf(
                Number(options['rotation.position'] ?? this.source.at(this.first)),
            ),
        );
        Object.assign(this, {
            mark,
            selected: Math.max(0, this.pairs.indexOf(lit)),
            told: 0,
            reach: 1,
        });
        this.complete = new Promise((seen) => {
            this.seen = seen;
        });
        this.player = createPlayer(
            () => this.controls.speed(),
            (rows) => this.advance(rows),
        );
        this.controls = createControls(context, this.source, this.row, {
            go: (to) => this.go(to),
            toggle: () => (this.player.playing() ? this.pause() : this.play()),
        });
        this.numbers = h(
            'details',
            {ontoggle: () => this.tell()},
            h('summary', {}, 'Numbers of these pairs'),
            scrolled('Numbers of these pairs'),
        );
        this.grid = gridOf(this.dials);
        this.remember = later(() => {
            if (!context.signal.aborted)
                update(
                    {
                        'rotation.position':
                            this.row === this.first ? '' : String(this.source.at(this.row)),
                    },
                    {quiet: true},
                );
        }, 200);
    }

    // Whether all sides have what they show at a row; what is missing is asked for.
    loaded(at) {
        return this.sides.every(({turning}) => {
            const there = turning.rowOf(this.source.at(at), at);
            return there < 0 || turning.blockOf(there);
        });
    }
    states() {
        return this.pairs.map((pair) => stateOf(this.sides, pair, this.row, this.mark));
    }
    rowWithin(row) {
        return clamp(row, 0, this.source.totalRows - 1);
    }

    play() {
        if (this.row === this.source.totalRows - 1) this.go(0);
        this.player.start();
        this.controls.play.textContent = 'Pause';
        this.controls.play.setAttribute('aria-pressed', 'true');
    }
    pause() {
        this.player.stop();
        this.controls.play.textContent = 'Play';
        this.controls.play.setAttribute('aria-pressed', 'false');
        this.tell();
    }
    advance(rows) {
        if (!this.loaded(this.row)) return;
        if (this.row === this.source.totalRows - 1) return void this.pause();
        this.go(this.row + rows);
    }
    fail(error) {
        if (this.context.signal.aborted || error.name === 'AbortError') return;
        this.player.stop();
        this.seen();
        this.controls.status.textContent = error.message;
    }

    // Go to a row; -1 stands for a position without a row.
    go(to) {
        if (to >= 0) this.row = this.rowWithin(Math.round(to));
        if (this.controls.told) this.controls.told.remove();
        this.draw();
        this.remember();
    }
    choose(index) {
        this.dials[this.selected]?.element.setAttribute('aria-pressed', 'false');
        this.selected = clamp(index, 0, this.dials.length - 1);
        this.dials.forEach(({element}, i) => {
            element.tabIndex = i === this.selected ? 0 : -1;
        });
        this.dials[this.selected]?.element.setAttribute('aria-pressed', 'true');
        this.tell();
    }

    // The exact numbers, which are not updated in every frame.
    tell() {
        if (this.dials.length === 0 || !this.loaded(this.row)) return;
        this.told = performance.now();
        this.context.hover(
            describeState(
                this.sides,
                stateOf(this.sides, this.pairs[this.selected], this.row, this.mark),
            ),
        );
        if (this.numbers.open)
            this.numbers.lastChild.replaceChildren(numbersOf(this.sides, this.states()));
    }

    showPlace() {
        const {controls, mark, row, source} = this;
        const position = source.at(row),
            loaded = this.loaded(row);
        controls.slider.value = row;
        controls.slider.setAttribute('aria-valuetext', `position ${position}`);
        if (document.activeElement !== controls.entry || !this.player.playing())
            controls.entry.value = position;
        this.grid.classList.toggle('waiting', !loaded);
        const beyond = mark != null && position >= mark;
        controls.status.textContent =
            'position ' +
            `${position}${loaded ? '' : ' …'}${beyond ? ' · beyond training' : ''}`;
        controls.status.classList.toggle('beyond', beyond);
    }
    draw() {
        if (this.context.signal.aborted) return;
        this.showPlace();
        if (!this.loaded(this.row)) return;
        this.seen();
        this.reach = Math.max(this.reach, reachOf(this.sides, this.pairs, this.row));
        this.states().forEach((state, i) => this.dials[i].show(state, this.reach, this.mark));
        if (!this.player.playing() || performance.now() - this.told > PATIENCE) this.tell();
        // asks for what comes next
        this.loaded(this.rowWithin(this.row + Math.max(TRACE, this.controls.speed())));
    }
}

function render(container, context) {
    const {tables, mark, colours, signal, until} = context;
    const view = new Rotation(context);
    const {sides, controls, dials} = view;
    container.append(
        rotationNote(sides, tables, mark, signal),
        controls.element,
        controls.track,
        controls.status,
        legendOf(sides, tables, colours, mark),
        view.grid,
        view.numbers,
    );
    connect(dials, {
        signal,
        choose: (index) => view.choose(index),
        move: (rows) => view.go(view.rowWithin(view.row + rows)),
        selected: () => view.selected,
    });
    Promise.all(tables.map(({wavelengthsKnown}) => wavelengthsKnown)).then(() => {
        if (signal.aborted) return;
        dials.forEach((dial) => dial.nameWaves());
        view.draw();
    });
    view.choose(view.selected);
    view.draw();
    signal.addEventListener('abort', view.seen);
    until(view.complete);
    return () => view.player.stop();
}

function connect(dials, {signal, choose, move, selected}) {
    const PAIRS = {ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity};
    const ROWS = {ArrowUp: 1, ArrowDown: -1, PageUp: 16, PageDown: -16};
    function press(event) {
        if (isModified(event) || !(event.key in PAIRS || event.key in ROWS)) return;
        event.preventDefault();
        if (event.key in ROWS) return move(ROWS[event.key]);
        choose(selected() + PAIRS[event.key]);
        dials[selected()].element.focus();
    }
    dials.forEach(({element}, i) => {
        element.addEventListener('pointerenter', () => choose(i), {signal});
        element.addEventListener('click', () => choose(i), {signal});
        element.addEventListener('keydown', press, {signal});
    });
}

export default {
    name: 'rotation',
    title: 'Rotation',
    linked: true,
    options: ['pairs', 'position', 'speed'],
    tools: ['mark'],
    applies: (tensor, scheme) => Boolean(coordinatesIn(tensor, scheme)),
    render,
};
