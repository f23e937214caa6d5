// Matrices as pixels. A pixel that covers several values shows the least or the greatest of
// them, in squares of two by two like a chessboard: an oscillation too fine to be drawn keeps
// its colours and never looks like its mean.
import {clamp} from './numbers.js';

// The cells [first, last) that each of `pixels` pixels of a view [from, to) shows: all that
// begin in it, or the one that contains it. Empty beyond the table.
export function spansOf(pixels, [from, to], extent) {
    const first = new Int32Array(pixels),
        last = new Int32Array(pixels);
    const at = (i) => clamp(from + ((to - from) * i) / pixels, 0, extent);
    let most = 1;
    for (let i = 0; i < pixels; i++) {
        first[i] = Math.floor(at(i));
        last[i] =
            first[i] >= extent
                ? first[i]
                : Math.max(first[i] + 1, Math.min(Math.floor(at(i + 1)), extent));
        most = Math.max(most, last[i] - first[i]);
    }
    return {first, last, most};
}

// The least and greatest value of each span of columns in rows [from, to), without those that
// are no numbers.
function reachOf({data, columns}, across, from, to, least, greatest) {
    least.fill(NaN);
    greatest.fill(NaN);
    for (let row = from; row < to; row++)
        for (let x = 0; x < least.length; x++)
            for (
                let at = row * columns + across.first[x], end = row * columns + across.last[x];
                at < end;
                at++
            ) {
                const value = data[at];
                if (!(value >= least[x])) least[x] = Number.isNaN(value) ? least[x] : value;
                if (!(value <= greatest[x]))
                    greatest[x] = Number.isNaN(value) ? greatest[x] : value;
            }
}

// Fill an ImageData with a table's cells; `across` and `down` are spans of its columns and
// rows.
export function paint(image, table, scale, across, down) {
    const {width, height} = image;
    const words = new Uint32Array(image.data.buffer);
    const least = new Float64Array(width),
        greatest = new Float64Array(width);
    const inks = [new Uint32Array(width), new Uint32Array(width)];
    for (let y = 0, at = 0; y < height; y++, at += width) {
        const same =
            y > 0 && down.first[y] === down.first[y - 1] && down.last[y] === down.last[y - 1];
        if (!same) {
            reachOf(table, across, down.first[y], down.last[y], least, greatest);
            for (let x = 0; x < width; x++) {
                const shown = across.last[x] > across.first[x] && down.last[y] > down.first[y];
                inks[0][x] = shown ? scale.word(greatest[x]) : 0;
                inks[1][x] = shown ? scale.word(least[x]) : 0;
            }
        }
        if (same && across.most === 1 && down.most === 1) words.copyWithin(at, at - width, at);
        else for (let x = 0; x < width; x++) words[at + x] = inks[((x >> 1) + (y >> 1)) & 1][x];
    }
}

// What to say where pixels cover several values; '' where each shows one.
export function coverOf(across, down) {
    if (across.most === 1 && down.most === 1) return '';
    const parts = [
        down.most > 1 && `${down.most} rows`,
        across.most > 1 && `${across.most} columns`,
    ].filter(Boolean);
    return (
        `A pixel covers up to ${parts.join(' and ')} here: neighbouring pixels show the ` +
        'least and the greatest of these values, not their mean.'
    );
}
