// What an address asks for that is not there: a view, a tensor, rows, a setting twice; and what
// two tables have to do with each other that their picture does not show.
import {layoutRemark} from './layouts.js';
import {titleOf} from './schema.js';
import {isViewOption} from './views.js';

// `tables` and `view` are what is shown.
export function remarksOn({options, repeated = [], left, view: wanted}, tables, view) {
    const [table] = tables;
    const remarks = [
        ...repeated.map((name) => `${name} is given twice: the last one is taken.`),
        ...Object.keys(options)
            .filter((name) => !isViewOption(name))
            .map((name) => `There is no setting "view.${name}".`),
    ];
    if (table?.settings.scheme !== left?.scheme || !view) return remarks;
    const {tensor, available, firstRow, rows, totalRows} = table;
    if (options.tensor && !available.some(({name}) => name === options.tensor))
        remarks.push(`There is no tensor "${options.tensor}": ${tensor.name} is shown.`);
    if (options.row && Number(options.row) !== firstRow)
        remarks.push(
            `Row ${options.row} of ${totalRows} cannot begin a window of ${rows}: ` +
                `rows from ${firstRow} are shown.`,
        );
    if (wanted !== view.name)
        remarks.push(
            `There is no view "${wanted}" of this table: ${titleOf(view, table)} is shown.`,
        );
    return [...remarks, tables[1] && layoutRemark(tables)].filter(Boolean);
}
