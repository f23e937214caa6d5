// Similarities of positions: matrices of /v1/similarity as tables for views, and what these
// views share.
import {WINDOW_ELEMENTS, addressOf} from './api.js';
import {h} from './dom.js';
import {differencesOf} from './schema.js';
import {Table, elements} from './tables.js';

export const METRICS = {
    l2: 'L2 distance',
    l1: 'L1 distance',
    dot: 'dot product',
    cosine: 'cosine',
    pearson: 'Pearson correlation',
};

// The service compares the rows of a scheme's primary tensor; one row of the matrix must fit a
// window.
export function hasSimilarity({shape, primary}, {similarity}) {
    return Boolean(similarity && primary) && shape.length === 2 && shape[0] <= WINDOW_ELEMENTS;
}

// The tables that have similarities, and a line about the others.
export function comparable(tables) {
    const having = tables.filter(({tensor, scheme}) => hasSimilarity(tensor, scheme));
    const lacking = tables.filter((table) => !having.includes(table));
    const note = lacking
        .map(
            ({scheme, tensor}) =>
                `The service has no similarities of ${scheme.name}’s ${tensor.name}.`,
        )
        .join(' ');
    return {having, note};
}

// Positions of all rows of the whole tensor, by row number.
export const positionsOf = ({coordinates: [rows]}) => rows.at;

// Some rows of the matrix of a table: {metric, first, count}, or {metric, chosen: [row
// numbers]}. `source` is the table whose rows are compared, `numbers(i)` the row number of row
// i.
export async function loadSimilarity(source, {metric, first = 0, count, chosen}, signal) {
    const {
        scheme,
        settings,
        totalRows: n,
        tensor: {
            axes: [axis],
        },
    } = source;
    const rows = chosen?.length ?? count;
    const parameters = {...settings.parameters, metric, ...(chosen && {rows: chosen.join()})};
    const tensor = {
        name: 'similarity',
        dtype: source.dtype,
        shape: [chosen ? rows : n, n],
        axes: [axis, axis],
        primary: true,
    };
    const asked = {collection: 'similarity', scheme: scheme.name, parameters};
    const {data, ...reply} = await elements(asked, tensor, chosen ? 0 : first * n, rows * n, {
        signal,
    });
    const at = positionsOf(source),
        [{title, explained}] = source.coordinates;
    const numbers = chosen ? (i) => chosen[i] : (i) => first + i;
    return new Table({
        ...source,
        source,
        numbers,
        data,
        rows,
        columns: n,
        totalRows: n,
        firstRow: first,
        dtype: tensor.dtype,
        reply,
        settings: asked,
        available: [tensor],
        leading: [],
        slice: [],
        tensor: {...tensor, name: METRICS[metric]},
        wavelengths: null,
        measuring: Promise.resolve(),
        knownExtent: null,
        knownConstant: undefined,
        address: addressOf(asked),
        row: {axis, title, explained, at: (i) => at(numbers(i))},
        column: {axis, title, explained, at},
    });
}

// A name for each of one or two tables: the scheme and, if both have the same, the parameters
// that differ.
export function titlesOf(tables) {
    const [one, other] = tables;
    if (!other) return [one.scheme.name];
    const same = one.scheme === other.scheme;
    return tables.map((table, side) =>
        [
            `${'AB'[side]}: ${table.scheme.name}`,
            ...(same ? differencesOf(table, tables[1 - side]) : []),
        ].join(', '),
    );
}

// A labelled select whose choice is an option of the view.
export function chooser(context, name, label, choices, standard) {
    const current = context.options[name] in choices ? context.options[name] : standard;
    const select = h(
        'select',
        {
            id: `option-${name}`,
            onchange: () =>
                context.update({[name]: select.value === standard ? '' : select.value}),
        },
        ...Object.entries(choices).map(([value, title]) =>
            h('option', {value, selected: value === current}, title),
        ),
    );
    return {element: h('label', {}, `${label} `, select), value: current};
}

// An address in which long lists are shortened.
const brieflyOf = (address) => address.replace(/(=[^&]{60})[^&]*(,[^&]{20})/, '$1…$2');

// Load what a view needs and then draw it below its controls. `draw(element, loaded)` may
// return a function to be called at the end, as render may.
export function present(container, {signal, until}, controls, load, draw) {
    const news = h('p', {class: 'similarity-news', role: 'status'});
    const place = h('div', {});
    const addresses = h('div', {});
    let dispose = null;
    container.append(
        h('div', {class: 'buttons'}, ...controls.filter(Boolean)),
        news,
        place,
        addresses,
    );
    const patience = setTimeout(() => {
        news.textContent = 'Comparing positions …';
    }, 80);
    until(
        load()
            .then((loaded) => {
                if (signal.aborted) return;
                news.textContent = '';
                dispose = draw(place, loaded, news);
                addresses.append(
                    ...loaded
                        .flat()
                        .map(({address, reply}) =>
                            h(
                                'p',
                                {class: 'reply'},
                                h('code', {}, `GET ${brieflyOf(address)}`),
                                ` cache ${reply.cache}`,
                            ),
                        ),
                );
            })
            .catch((error) => {
                if (signal.aborted || error.name === 'AbortError') return;
                if (error.status === undefined) console.error(error);
                news.textContent = error.message;
                news.classList.add('failed');
            })
            .finally(() => clearTimeout(patience)),
    );
    return () => dispose?.();
}
