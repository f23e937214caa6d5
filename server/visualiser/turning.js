// Vectors that turn with the position: two tensors of a scheme taken together, loaded block by
// block.
import {rotationOf} from './rotated.js';
import {coordinatesOf} from './schema.js';
import {shortest} from './numbers.js';

const BLOCK_ELEMENTS = 2 ** 18; // of one tensor in one block
const BLOCKS_KEPT = 4;
export const TRACE = 24; // positions behind the one that is shown

// The names of both tensors of a pair, if the tensor is one of a pair and its rows are
// positions.
export function coordinatesIn(tensor, scheme) {
    const {query, key} = rotationOf(tensor, scheme) ?? {};
    return query && [query, key].find((names) => names.includes(tensor.name));
}

// How many pairs a table has, and where. Full-width tables repeat every pair in two columns;
// the layout decides which.
export function pairsOf({tensor, effective}) {
    const twice = effective.table === 'full';
    const apart = effective.layout === 'interleaved' ? 2 : 1;
    const count = twice ? tensor.shape[1] / 2 : tensor.shape[1];
    return {
        count,
        columnOf: (pair) => (twice ? pair * apart : pair),
        pairAt: (column) => (apart === 2 && twice ? column >> 1 : column % count),
    };
}

// The row of a position: the given row if it has that position, else the only possible row.
function rowFinder({effective, totalRows, tensor}) {
    const at = coordinatesOf(tensor.axes[0], effective);
    const offset = Number(effective.offset ?? 0),
        step = Number(effective.step ?? 1);
    const listed = effective.positions?.split(',').map(Number);
    return (position, row = 0) => {
        if (row < totalRows && at(row) === position) return row;
        const found = listed ? listed.indexOf(position) : (position - offset) / step;
        return Number.isInteger(found) && found >= 0 && found < totalRows ? found : -1;
    };
}

// All vectors of one side. `load(options)` gives tables of it, `ready` is called when a block
// has come and `failed` with the error of one that has not.
export function createTurning(table, names, {load, ready, failed}) {
    const {tensor, totalRows, effective, dtype} = table;
    const width = tensor.shape[1];
    const stride = Math.max(1, Math.min(totalRows, Math.floor(BLOCK_ELEMENTS / width)));
    const behind = stride < totalRows ? Math.min(TRACE, Math.floor(BLOCK_ELEMENTS / width)) : 0;
    const {count, columnOf, pairAt} = pairsOf(table);
    const blocks = new Map(); // by number; null while under way

    async function fetchBlock(number) {
        const row = Math.max(0, number * stride - behind);
        const rows = Math.min(totalRows, (number + 1) * stride) - row;
        blocks.set(number, null);
        try {
            const [x, y] = await Promise.all(
                names.map((name) => load({tensor: name, row, rows, waves: false})),
            );
            blocks.delete(number);
            blocks.set(number, {x, y, first: x.firstRow});
            for (const oldest of blocks.keys())
                if (blocks.size > BLOCKS_KEPT) blocks.delete(oldest);
            ready();
        } catch (error) {
            blocks.delete(number);
            failed(error);
        }
    }

    // The block of a row, or null while it is loaded.
    function blockOf(row) {
        const number = Math.floor(row / stride);
        if (!blocks.has(number)) fetchBlock(number);
        return blocks.get(number);
    }

    // {x, y, length, angle in turns of -1/2 to 1/2, trace, texts} of a pair at a row of a block
    // that is there.
    function vectorOf(pair, row) {
        const {x: xs, y: ys, first} = blockOf(row);
        const column = columnOf(pair);
        const trace = [];
        for (let r = Math.max(first, row - TRACE); r < row; r++)
            trace.push(xs.value(r - first, column), ys.value(r - first, column));
        const x = xs.value(row - first, column),
            y = ys.value(row - first, column);
        return {
            x,
            y,
            trace,
            length: Math.hypot(x, y),
            angle: Math.atan2(y, x) / (2 * Math.PI),
            texts: [x, y].map((value) => shortest(dtype, value)),
        };
    }

    return {
        names,
        count,
        totalRows,
        blockOf,
        vectorOf,
        pairAt,
        at: coordinatesOf(tensor.axes[0], effective),
        rowOf: rowFinder(table),
        wavelengthOf: (pair) => table.wavelengths?.[columnOf(pair)] ?? NaN,
    };
}
