// The views, in the order of their tabs. To add one, write views/NAME.js and add a line in the
// list.
//
//   export default {
//     name: 'heatmap',            // in the address: ?view=heatmap
//     title: 'Heatmap',           // its tab, or (tensor, scheme) => its tab
//     linked: true,               // whether it shows options.column, the highlighted one
//     options: ['columns'],       // its own part of the address: view.waves.columns
//     tools: ['mark'],            // which of slice, row and mark it heeds, if not all
//     charts: true,               // whether it draws charts, with Plot
//     applies(tensor, scheme),    // whether it makes sense: by tensor.shape, .axes, .dtype and
//                                 // the scheme's document, never by the scheme's name
//     render(container, context), // fill the empty element; may return a function that is
//   }                             // called before the next render or when the view is left
//
// render is called anew whenever tables, options or colours change. The context:
//
//   tables        [left] or [left, right]: Table of tables.js; exact values in typed arrays
//   difference    left minus right as a Table; null without a right one, or if they cannot be
//                 subtracted
//   refusal       why they cannot be, as a sentence, or ''
//   options       {name: text}: the view's own part of the address and what all views share
//                 (tensor, slice, row, mark, column: see state.js)
//   update(patch, {quiet, view})  change options: {'waves.columns': '0,1'}; '' removes one. It
//                 makes an entry of the history and renders anew; `quiet` does neither (pan,
//                 zoom, what lies under the mouse). {view: 'heatmap'} goes to another view
//   mark          the training length as a number, or null
//   hover(text)   the line under the view, which screen readers hear; '' empties it
//   load(side, options)  another table of the same settings, see loadTable: load(0, {tensor:
//                 'sin'}). Rejects with a Problem, or an AbortError when the view is left
//   taken(tables) what "Take it away" offers instead of the tables
//   colours       of the theme: see coloursOf and scaleOf in colours.js
//   signal        aborted when the view is rendered anew or left: pass it to addEventListener
//   until(promise)  the picture is complete when all of these have settled; until then the one
//                 of the same view stays, and the container is not in the document
//   width         of the container in CSS pixels; a change of it renders anew
//   height        that the window leaves for a picture and the view's own controls
//
// "Take it away" draws what is in the container into a file: texts, SVG, and canvases, as
// vectors where these have `canvas.redraw(context)`; see vector.js. A slider in .rotation-track
// makes the picture one that moves.
//
// Styles: set properties (element.style.x = …) or classes in style.css; style attributes in
// HTML text and <style> elements are refused by the page's policy. Charts are those of
// charts.js. Give every drawing a text alternative (aria-label), and every control a label.
import cloud from './views/cloud.js';
import distances from './views/distances.js';
import heads from './views/heads.js';
import heatmap from './views/heatmap.js';
import precision from './views/precision.js';
import profiles from './views/profiles.js';
import rotation from './views/rotation.js';
import scores from './views/scores.js';
import similarity from './views/similarity.js';
import softmax from './views/softmax.js';
import spectrum from './views/spectrum.js';
import waves from './views/waves.js';

export const VIEWS = [
    heatmap,
    waves,
    profiles,
    spectrum,
    precision,
    rotation,
    scores,
    heads,
    softmax,
    similarity,
    distances,
    cloud,
];

const SHARED = ['tensor', 'slice', 'row', 'mark', 'column', 'zoom'];

// Whether some view, or all, has such an option.
export const isViewOption = (name) =>
    SHARED.includes(name) ||
    VIEWS.some((view) => view.options?.some((option) => name === `${view.name}.${option}`));

export const viewsFor = (tensor, scheme) =>
    VIEWS.filter((view) => view.applies(tensor, scheme));
