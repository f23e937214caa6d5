// Pairs of positions: which of them a point cloud shows, and whether the two triangles of their
// matrices agree.

const LOADED = 2 ** 20; // elements of one matrix
const SHOWN = 2 ** 19; // points of one cloud

// The rows to ask for of an n by n matrix: all, or as many as fit at equal distances.
export function rowsToCompare(n) {
    const count = Math.min(n, Math.max(1, Math.floor(LOADED / n)));
    return Array.from({length: count}, (_, i) => Math.floor((i * n) / count));
}

// A 32-bit hash of an unordered pair. It decides which pairs are left out, so that both
// triangles, all windows and all visits leave out the same ones.
function hash(i, j) {
    let x =
        Math.imul(Math.min(i, j) + 1, 0x9e3779b1) ^ Math.imul(Math.max(i, j) + 1, 0x85ebca6b);
    x = Math.imul(x ^ (x >>> 16), 0x7feb352d);
    x = Math.imul(x ^ (x >>> 15), 0x846ca68b);
    return (x ^ (x >>> 16)) >>> 0;
}

// The points of a cloud: x and y are two matrices of the same rows. {all: pairs of the matrix,
// at: indices into both matrices, undefined: pairs without a number}; triangle: 'both',
// 'upper', 'lower'.
export function pairsOf(x, y, triangle) {
    const {rows, columns: n, numbers} = x;
    const all = rows * (n - 1) * (triangle === 'both' ? 1 : 0.5);
    const limit = all <= SHOWN ? 2 ** 32 : (SHOWN / all) * 2 ** 32;
    const at = new Uint32Array(rows * n);
    let count = 0,
        undefinedPairs = 0;
    for (let row = 0; row < rows; row++) {
        const i = numbers(row);
        const from = triangle === 'upper' ? i + 1 : 0,
            to = triangle === 'lower' ? i : n;
        for (let j = from; j < to; j++) {
            if (j === i || (limit < 2 ** 32 && hash(i, j) >= limit)) continue;
            const index = row * n + j;
            if (Number.isFinite(x.data[index]) && Number.isFinite(y.data[index]))
                at[count++] = index;
            else undefinedPairs++;
        }
    }
    return {at: at.subarray(0, count), undefinedPairs, thinned: limit < 2 ** 32};
}

// Pairs (i, j) of the upper triangle whose mirror (j, i) is there too, and how many of them
// differ.
export function compareTriangles(x, y) {
    const {rows, columns: n, numbers} = x;
    let mirrored = 0,
        different = 0;
    for (let row = 0; row < rows; row++)
        for (let other = row + 1; other < rows; other++) {
            const upper = row * n + numbers(other),
                lower = other * n + numbers(row);
            mirrored++;
            if (
                !Object.is(x.data[upper], x.data[lower]) ||
                !Object.is(y.data[upper], y.data[lower])
            )
                different++;
        }
    return {mirrored, different};
}

// Least and greatest of the points along an axis.
export function extentOf({data}, at) {
    let least = Infinity,
        most = -Infinity;
    for (const index of at) {
        least = Math.min(least, data[index]);
        most = Math.max(most, data[index]);
    }
    return [least, most];
}
