// The wavelength of each column over the dimension: which columns never complete a turn in
// training.
import {drawLoaded} from '../controls.js';
import {heightOf} from '../arrangement.js';
import {createChart, decadesOf, indexOf, legendOf, linkCharts, titled} from '../charts.js';
import {h} from '../dom.js';
import {highlighted} from '../highlight.js';
import {countText} from '../lists.js';
import {spectrumNote} from '../notes.js';
import {brief} from '../numbers.js';
import {titlesOf} from '../schema.js';
import {spanOf} from '../variants.js';
import {mayWave, sideName} from './waves.js';

const ROWS = 64; // that are looked at
const NEAR = 0.02; // of sums of squares of rounded numbers
const AROUND = 130; // pixels that the words and titles take of the height

export const NOT_MEASURED = 'The wavelengths of this table could not be measured.';

// A description of one table's spectrum.
function describeSpectrum(wavelengths, limit, limitName) {
    if (!wavelengths) return NOT_MEASURED;
    const finite = Array.from(wavelengths).filter(Number.isFinite);
    if (finite.length === 0) return 'No column is a wave of the position.';
    const longer = finite.filter((each) => each > limit).length;
    const which = longer > 1 && longer === finite.length ? 'All' : `${longer} of`;
    const turns =
        longer === 0
            ? `Every wave completes a turn within ${limitName} of ${brief(limit)}. `
            : `${which} ${countText(finite.length, 'column')} ` +
              `${longer === 1 ? 'has a wavelength' : 'have wavelengths'} above ${limitName} ` +
              `of ${brief(limit)} and never complete${longer === 1 ? 's' : ''} a turn ` +
              'within it. ';
    return (
        turns +
        `Wavelengths go from ${brief(finite.reduce((a, b) => Math.min(a, b)))} to ` +
        `${brief(finite.reduce((a, b) => Math.max(a, b)))} positions.`
    );
}

// Whether the columns of every wavelength are two whose squares add up to a constant: a sine
// and a cosine.
function sineAndCosine({wavelengths, columns, rows, data}) {
    const partners = new Map();
    for (let column = 0; column < columns; column++) {
        const key = wavelengths?.[column]?.toPrecision(9);
        partners.set(key, [...(partners.get(key) ?? []), column]);
    }
    const size = (row, pair) =>
        pair.reduce((sum, column) => sum + data[row * columns + column] ** 2, 0);
    const turns = (pair) =>
        pair.length === 2 &&
        Array.from({length: Math.min(rows, ROWS)}, (_, row) => size(row, pair)).every(
            (each, _, [first]) => Math.abs(each - first) <= NEAR * first,
        );
    const finite = [...partners].filter(([key]) => key !== 'NaN');
    return finite.length > 0 && finite.every(([, pair]) => turns(pair));
}

const whyTwo = () =>
    h(
        'p',
        {class: 'spectrum-why'},
        'Each frequency has two columns, a sine and a cosine, since together they are a ' +
            'point that turns: the row of position m + k is the row of m turned by the same ' +
            'angles, wherever m is. A sine alone has no such rotation. ',
        h('a', {href: '?scheme=rotation_matrix'}, 'The rotations T_k as matrices'),
        '.',
    );

// Rings around the dots of the highlighted column, and a line through them.
function highlightOf({tables, options, colours}) {
    const rings = tables.flatMap((table) => {
        const at = highlighted(options, table);
        return at == null || !Number.isFinite(table.wavelengths?.[at])
            ? []
            : [
                  {
                      ring: true,
                      length: 1,
                      x: () => at,
                      y: () => table.wavelengths[at],
                      colour: colours.ink,
                  },
              ];
    });
    return {
        rings,
        rules: rings.slice(0, 1).map(({x}) => ({
            x: x(),
            text: `${tables[0].column.title} ${x()}`,
            colour: colours.ink,
        })),
    };
}

function draw(container, context) {
    const {tables, hover, mark, colours, signal, width, height} = context;
    const limits = tables.map((table) => (mark > 0 ? mark : spanOf(table)));
    const limitName = mark > 0 ? 'the training length' : 'the table’s length';
    const series = tables.map(({wavelengths}, i) => {
        const columns = Array.from(wavelengths?.keys() ?? []).filter((k) =>
            Number.isFinite(wavelengths[k]),
        );
        return {
            dots: true,
            length: columns.length,
            x: (k) => columns[k],
            y: (k) => wavelengths[columns[k]],
            colour: [colours.left, colours.right][i],
            dashed: i === 1,
            name: titlesOf(tables)[i],
        };
    });
    const words = tables.map((table, i) =>
        h(
            'p',
            {class: 'spectrum-words'},
            tables.length > 1 ? h('b', {}, `${'AB'[i]}: `) : null,
            describeSpectrum(table.wavelengths, limits[i], limitName),
        ),
    );
    const values = series.flatMap(({length, y}) => Array.from({length}, (_, i) => y(i)));
    if (values.length === 0) return container.append(...words);
    const x = {
        title: 'dimension',
        domain: [0, Math.max(1, ...tables.map(({columns}) => columns - 1))],
    };
    const y = {
        title: 'wavelength in positions',
        type: 'log',
        domain: decadesOf([...limits, ...values]),
    };
    const {rings, rules} = highlightOf(context);
    const chart = createChart({
        series: [...series, ...rings],
        x,
        y,
        colours,
        width,
        height: heightOf(height, AROUND, 1),
        rules: [
            ...rules,
            ...(mark > 0 ? [] : limits)
                .filter((limit, i) => limits.indexOf(limit) === i)
                .map((limit) => ({y: limit, text: `${brief(limit)} positions`})),
            ...(mark > 0 ? [{y: mark, text: `trained to ${brief(mark)}`}] : []),
        ],
        label:
            'Wavelength of each column on a logarithmic axis. ' +
            `${words.map(({textContent}) => textContent).join(' ')} Arrow keys move the ` +
            'cursor.',
    });
    const tell = (at) =>
        [
            `dimension ${at}`,
            ...tables.flatMap(({wavelengths}, i) => {
                if (indexOf(series[i], at) < 0) return [];
                const turns = limits[i] / wavelengths[at];
                return [
                    `${sideName(tables, i)}wavelength ` +
                        `${Number(wavelengths[at].toPrecision(9))} positions, ` +
                        `${Number(turns.toPrecision(4))} turns within ${brief(limits[i])}`,
                ];
            }),
        ].join(' · ');
    if (tables.every(sineAndCosine)) words.push(whyTwo());
    container.append(...words, legendOf(tables.length > 1 ? series : []), titled('', chart));
    linkCharts([chart], {signal, tell: (at) => hover(at == null ? '' : tell(at))});
}

function render(container, context) {
    const body = h(
        'div',
        {class: 'spectrum-body'},
        h('p', {class: 'quiet'}, 'Measuring wavelengths …'),
    );
    container.append(spectrumNote(), body);
    drawLoaded(
        context,
        body,
        Promise.all(context.tables.map(({wavelengthsKnown}) => wavelengthsKnown)),
        () => {
            body.replaceChildren();
            draw(body, context);
        },
    );
}

export default {
    name: 'spectrum',
    title: 'Spectrum',
    linked: true,
    tools: ['mark'],
    applies: mayWave,
    charts: true,
    render,
};
