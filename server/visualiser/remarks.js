// What an address asks for that is not there: a view, a tensor, rows, a setting twice; and what
// two tables have to do with each other that their picture does not show.
import {layoutRemark} from './layouts.js';
import {titleOf} from './schema.js';
import {isViewOption} from './views.js';

// Whether it is told which columns turn together: of two layouts, and where pairs are shown.
export const asksForLayout = ([one, other], view) =>
    other ? one.effective.layout !== other.effective.layout : view?.name === 'rotation';

// `tables` and `view` are what is shown.
export function remarksOn({options, repeated = [], left, tour, view: wanted}, tables, view) {
    const [table] = tables;
    const remarks = [
        ...repeated.map((name) => `${name} is given twice: the last one is taken.`),
        ...Object.keys(options)
            .filter((name) => !isViewOption(name))
            .map((name) => `There is no setting "view.${name}".`),
    ];
    if (table?.settings.scheme !== left?.scheme || !view) return remarks;
    const {tensor, available, firstRow, rows, totalRows, leading, slice} = table;
    if (options.tensor && !available.some(({name}) => name === options.tensor))
        remarks.push(`There is no tensor "${options.tensor}": ${tensor.name} is shown.`);
    if (options.slice && slice.join() !== options.slice)
        remarks.push(
            leading.length > 0
                ? `The slice "${options.slice}" is not there: ${slice.join()} is shown.`
                : `${tensor.name} has no slices: "${options.slice}" is not used.`,
        );
    if (options.mark && !(Number(options.mark) > 0))
        remarks.push(`The training length "${options.mark}" is no number above 0: not used.`);
    if (options.row && Number(options.row) !== firstRow)
        remarks.push(
            `Row ${options.row} of ${totalRows} cannot begin a window of ${rows}: ` +
                `rows from ${firstRow} are shown.`,
        );
    if (wanted !== view.name)
        remarks.push(
            `There is no view "${wanted}" of this table: ${titleOf(view, table)} is shown.`,
        );
    return [...remarks, !tour && asksForLayout(tables, view) && layoutRemark(tables)].filter(
        Boolean,
    );
}
