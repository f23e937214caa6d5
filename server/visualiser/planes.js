// Tensors as planes: a matrix or a line for each head, or for what else stands on one of the
// axes.
import {WINDOW_ELEMENTS} from './api.js';
import {isDistances} from './axes.js';
import {brief, reachOf, shortest} from './numbers.js';
import {axesOf} from './schema.js';

const HEADS = /\b(heads|buckets)\b/;
const WIDTH = /^dim\b/;

// How a tensor is cut into planes: {lead: the axis that counts planes, row, column: the axes of
// a plane (row is null for lines)}; null if that is impossible. If the last axis is a width and
// the others are places, each index of the width is a plane.
export function planesIn({shape, axes}) {
    if (shape.length === 3)
        return WIDTH.test(axes[2]) && !WIDTH.test(axes[1])
            ? {lead: 2, row: 0, column: 1}
            : {lead: 0, row: 1, column: 2};
    if (shape.length !== 2) return null;
    if (HEADS.test(axes[0])) return {lead: 0, row: null, column: 1};
    return isDistances(axes[0]) ? {lead: 1, row: null, column: 0} : null;
}

// Whether the columns of one row of a plane can be drawn against a distance.
export function hasDistances({axes}, {row, column}) {
    return row == null
        ? isDistances(axes[column])
        : axes[row] === 'queries' && axes[column] === 'keys';
}

const size = (shape) => shape.reduce((product, extent) => product * extent, 1);

// One plane out of the elements of whole rows of the first axis.
function planeOf(flat, {lead}, index, {rows, columns, extent}) {
    if (lead === 0)
        return flat.data.subarray(index * rows * columns, (index + 1) * rows * columns);
    const data = new flat.data.constructor(rows * columns);
    const width = flat.columns;
    for (let row = 0; row < rows; row++)
        for (let column = 0; column < columns; column++)
            data[row * columns + column] =
                lead === 2
                    ? flat.data[row * width + column * extent + index]
                    : flat.data[column * width + index];
    return data;
}

// The least and the greatest finite value of every plane of a whole tensor: [{index, reach}].
function reachesOf(flat, form, whole) {
    const all = Array.from({length: whole.extent}, (_, index) => ({
        index,
        reach: reachOf(planeOf(flat, form, index, whole)),
    }));
    return all.every(({reach}) => reach) ? all : null;
}

// The planes of a tensor that fits one window, all from one request; of others as much as fits
// of those asked for.
async function dataOf({tensor, firstRow, totalRows}, form, indices, load) {
    const {shape} = tensor,
        {lead, row, column} = form;
    const options = {tensor: tensor.name, waves: false};
    const whole = {
        rows: row == null ? 1 : shape[row],
        columns: shape[column],
        extent: shape[lead],
    };
    if (lead > 0 || size(shape) <= WINDOW_ELEMENTS) {
        const flat = await load({...options, flat: true});
        if (lead === 2)
            Object.assign(whole, {
                rows: flat.rows,
                columns: Math.min(whole.columns, Math.floor(flat.columns / whole.extent)),
            });
        if (lead === 1) whole.columns = flat.rows;
        const count = lead === 0 ? flat.rows : Math.min(whole.extent, flat.columns);
        const loaded = flat.rows * flat.columns;
        return {
            ...whole,
            first: 0,
            reaches: loaded === size(shape) ? reachesOf(flat, form, whole) : null,
            planes: new Map(
                Array.from({length: count}, (_, i) => [i, i])
                    .filter((i) => indices.includes(i[0]))
                    .map(([i]) => [i, planeOf(flat, form, i, whole)]),
            ),
            everything: flat.data,
        };
    }
    const most = Math.max(1, Math.floor(WINDOW_ELEMENTS / indices.length / whole.columns));
    const loaded = await Promise.all(
        indices.map((index) =>
            load(
                row == null
                    ? {...options, row: index, rows: 1}
                    : {
                          ...options,
                          slice: index,
                          row: firstRow,
                          rows: Math.min(most, totalRows - firstRow),
                      },
            ),
        ),
    );
    const [{rows, columns, firstRow: first}] = loaded;
    return {
        rows,
        columns,
        first: row == null ? 0 : first,
        planes: new Map(loaded.map(({data}, i) => [indices[i], data])),
    };
}

// A number that another tensor of the scheme has for each plane, such as the slope of a head:
// given(index), a text.
export async function givenOf({tensor, available, described, effective}, {lead}, load) {
    const axis = tensor.axes[lead];
    const found = available.find(({name, shape}) => {
        const made = described.tensors.find((each) => each.name === name);
        return (
            made.shape.length === 1 &&
            made.shape[0] === tensor.shape[lead] &&
            axesOf(shape, made.shape, effective)[0] === axis
        );
    });
    if (!found || !HEADS.test(axis)) return () => '';
    const numbers = await load({tensor: found.name, waves: false});
    return (index) =>
        index < numbers.rows
            ? `${found.name.replace(/s$/, '')} ${brief(numbers.value(index, 0))}`
            : '';
}

// {count, title, label(i), given(i), rows, columns, row, column: as in Table, planes: Map of
// typed arrays, value, text, extent: least and greatest finite value of all that is loaded}.
export async function loadPlanes(table, indices, load) {
    const {tensor, coordinates, dtype} = table;
    const form = planesIn(tensor);
    const count = tensor.shape[form.lead];
    const [{everything, ...made}, given] = await Promise.all([
        dataOf(
            table,
            form,
            indices.filter((index) => index < count),
            load,
        ),
        givenOf(table, form, load),
    ]);
    const lead = coordinates[form.lead],
        row = form.row == null ? null : coordinates[form.row];
    return finish(
        {
            ...made,
            form,
            count,
            dtype,
            column: coordinates[form.column],
            label: lead.at,
            given,
            title: lead.title,
            row: row && {...row, at: (i) => row.at(made.first + i)},
            wholeRows: row ? tensor.shape[form.row] : 1,
        },
        everything ? [everything] : [...made.planes.values()],
    );
}

function finish(planes, arrays) {
    const extent = reachOf(arrays.map(reachOf).filter(Boolean).flat()) ?? [0, 0];
    const value = (index, row, column) =>
        row < planes.rows && column < planes.columns
            ? planes.planes.get(index)?.[row * planes.columns + column]
            : undefined;
    const text = (index, row, column) => {
        const found = value(index, row, column);
        return found === undefined ? '–' : shortest(planes.dtype, found);
    };
    return {...planes, value, text, extent};
}

// A minus B where both have planes, rows and columns.
export function differenceOfPlanes(a, b) {
    const rows = Math.min(a.rows, b.rows),
        columns = Math.min(a.columns, b.columns);
    const planes = new Map();
    let identical = true;
    for (const index of a.planes.keys()) {
        if (!b.planes.has(index)) continue;
        const data = new Float64Array(rows * columns);
        for (let row = 0; row < rows; row++)
            for (let column = 0; column < columns; column++) {
                const one = a.value(index, row, column),
                    other = b.value(index, row, column);
                data[row * columns + column] = one - other;
                identical &&= one === other;
            }
        planes.set(index, data);
    }
    return finish({...a, rows, columns, planes, dtype: 'f64', difference: true, identical}, [
        ...planes.values(),
    ]);
}
