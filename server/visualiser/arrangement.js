// How line charts of two settings stand together: on the same axes where their values mean the
// same, each on axes of its own where they cannot be subtracted, or as somebody chooses.
import {optionField} from './controls.js';
import {reachOf, roomy} from './charts.js';
import {titlesOf} from './schema.js';

const TITLES = {
    same: 'on the same axes',
    apart: 'one above the other',
    own: 'each on its own axes',
    difference: 'their difference',
};
const LOW = 230,
    HIGH = 640;

// Whether both sides share scales and axes unless somebody chooses: where a difference is
// drawn.
export const sharesByItself = ({tables, refusal}) => tables.length < 2 || !refusal;

// {value: a key of TITLES, field: its control, or null}; `name` is that of the view's option.
export function arrangementOf(context, name) {
    const {tables, difference} = context;
    if (tables.length < 2) return {value: 'same', field: null};
    const standard = sharesByItself(context) ? 'same' : 'own';
    const choices = Object.entries(TITLES).filter(
        ([each]) => difference || each !== 'difference',
    );
    return optionField(context, name, 'A and B', choices, standard);
}

// The groups of series that have a chart each, with the domains of their axes: {title, series,
// x, y, sides}. `all` has the series of each side, `difference` gives those of the difference.
export function groupsOf(value, {tables, all, difference}) {
    const both = tables.map((_, side) => side);
    const groups =
        value === 'difference'
            ? [{title: 'A − B', series: difference(), sides: both}]
            : value === 'same'
              ? [
                    {
                        title: tables.length > 1 ? 'A solid, B dashed' : '',
                        series: all.flat(),
                        sides: both,
                    },
                ]
              : all.map((series, side) => ({
                    title: titlesOf(tables)[side],
                    series: series.map((each) => ({...each, dashed: false})),
                    sides: [side],
                }));
    const domains = (series) => {
        const drawn = series.flatMap((each) => [each, each.curve].filter(Boolean));
        return {x: reachOf(drawn, 'x'), y: roomy(reachOf(drawn))};
    };
    const shared = domains(groups.flatMap(({series}) => series));
    return groups.map((group) => ({
        ...group,
        ...(value === 'own' ? domains(group.series) : shared),
    }));
}

// The height of each of some charts, of what the window leaves beside `around` pixels.
export const heightOf = (height, around, count) =>
    Math.max(LOW, Math.min((height - around) / count, HIGH));
