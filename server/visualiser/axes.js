// What the indices of a tensor's axes stand for: positions, distances that the scheme states,
// or themselves.
import {WINDOW_ELEMENTS} from './api.js';
import {axisTitle, coordinatesOf} from './schema.js';

export const isDistances = (axis) => /^(distances|queries\+keys-1)$/.test(axis);
const ROW_OF_TABLE = /\bthe row of\b/;

// {title, explained, at} of the distances [first, first + count) that a tensor of the scheme
// lists.
async function listed({tensors, documents, elements}, first, count) {
    const {data} = await elements(
        tensors.find(({name}) => name === 'distance'),
        first,
        count,
    );
    const {help} = documents.find(({name}) => name === 'distance');
    return {
        title: 'distance',
        explained: `distance, ${help.split(/ of each row|[;,]/)[0]}`,
        at: (i) => data[i - first] ?? NaN,
    };
}

// Where a tensor of indices names a row of the table for each query and key: the row for
// distance 0 is that of a query and a key at the same position, if one row further is always
// one key further. Else null.
async function indexed({tensors, documents, elements, effective}) {
    const document = documents.find(
        ({name, help}) =>
            name !== 'distance' &&
            ROW_OF_TABLE.test(help) &&
            tensors.some((each) => each.name === name && each.shape.length === 2),
    );
    if (!document) return null;
    const tensor = tensors.find(({name}) => name === document.name);
    const [queries, keys] = tensor.shape;
    const offset = Number(effective.query_offset ?? 0);
    const [query, key] = offset >= 0 ? [0, offset] : [-offset, 0];
    if (query >= queries || key >= keys || keys > WINDOW_ELEMENTS) return null;
    const {data} = await elements(tensor, query * keys, keys);
    for (let i = 1; i < keys; i++)
        if (data[i] !== data[i - 1] && data[i] !== data[i - 1] + 1) return null;
    return {
        title: 'distance',
        explained: 'distance, key minus query',
        at: (i) => i - data[key],
    };
}

async function distancesOf(source, extent, [first, count]) {
    const range = extent <= WINDOW_ELEMENTS ? [0, extent] : [first, count];
    if (
        source.tensors.some(
            ({name, shape}) => name === 'distance' && shape.join() === String(extent),
        )
    )
        return listed(source, ...range);
    return (await indexed(source)) ?? {title: 'table row', at: (i) => i};
}

// For each axis of a tensor {axis, title, explained: a longer title or undefined, at(i)}.
// source: {tensor, tensors: all of these settings, documents: what the scheme says of them,
// effective, elements(tensor, first, count)}; `window` is the part [first, count) of the rows
// that is drawn.
export function loadAxes(source, window) {
    const {shape, axes} = source.tensor;
    return Promise.all(
        axes.map(async (axis, k) => {
            if (isDistances(axis))
                return {axis, ...(await distancesOf(source, shape[k], window))};
            return {
                axis,
                title: axisTitle(axis, k > 0 && k === axes.length - 1),
                at: coordinatesOf(axis, source.effective),
            };
        }),
    );
}
