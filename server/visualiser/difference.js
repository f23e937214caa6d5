// Two tables side by side: whether one can be subtracted from the other, and their difference.
import {isDistances} from './axes.js';
import {pluralOf} from './lists.js';
import {Table} from './tables.js';

const kindOf = ({axis, explained}) => (isDistances(axis) ? explained : axis);
const rowsAndColumns = ({row, column}, name) =>
    `${name(row)} by ${name(column) || 'one column'}`;

// The first place at which two axes stand for different things, or -1.
function parting(one, other, extent) {
    for (let i = 0; i < extent; i++) if (one.at(i) !== other.at(i)) return i;
    return -1;
}

// Why two tables (or planes) are not subtracted, as a sentence; '' if they are.
export function refusalOf(left, right) {
    const axes = ['row', 'column'].filter((each) => left[each] || right[each]);
    if (
        axes.some(
            (each) => !left[each] || !right[each] || kindOf(left[each]) !== kindOf(right[each]),
        )
    ) {
        const names = [left, right].map((each) =>
            rowsAndColumns(each, (axis) => axis?.title && pluralOf(axis.title)),
        );
        const [a, b] =
            names[0] === names[1]
                ? [left, right].map((each) =>
                      rowsAndColumns(each, (axis) => axis?.explained ?? axis?.axis),
                  )
                : names;
        return `A and B are not subtracted, since their axes differ: A has ${a}, B has ${b}.`;
    }
    for (const each of axes) {
        const extent = Math.min(left[`${each}s`], right[`${each}s`]);
        const at = parting(left[each], right[each], extent);
        if (at >= 0)
            return (
                `A and B are not subtracted, since ${each} ${at} is ${left[each].title} ` +
                `${left[each].at(at)} in A and ${right[each].title} ${right[each].at(at)} in B.`
            );
    }
    return '';
}

// Left minus right where both have rows and columns, in double precision. `identical` says
// whether all of these values are the same in both, and `partial` whether one side has more.
export function differenceOf(left, right) {
    const rows = Math.min(left.rows, right.rows),
        columns = Math.min(left.columns, right.columns);
    const data = new Float64Array(rows * columns);
    let identical = true;
    for (let row = 0; row < rows; row++)
        for (let column = 0; column < columns; column++) {
            const a = left.value(row, column),
                b = right.value(row, column);
            data[row * columns + column] = a - b;
            if (a !== b && !(Number.isNaN(a) && Number.isNaN(b))) identical = false;
        }
    const partial = left.rows !== right.rows || left.columns !== right.columns;
    return new Table({
        ...left,
        data,
        rows,
        columns,
        dtype: 'f64',
        side: 'difference',
        knownExtent: null,
        knownConstant: undefined,
        wavelengths: null,
        reply: null,
        identical,
        partial,
    });
}
