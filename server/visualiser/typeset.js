// Formulas as KaTeX draws them, once its script and its styles have come. They are no part of
// the page's own script, and are asked for when the first picture is on the screen: until then
// a formula is text, and no picture waits for it.
import {arrived, scriptRun} from './scripts.js';

let begin;
const begun = new Promise((resolve) => {
    begin = resolve;
});
let coming = null;

export const startTypesetting = () => begin();

function load() {
    const style = document.getElementById('math-style');
    const styled = arrived(style);
    style.disabled = false;
    return Promise.all([styled, scriptRun('math-script')]);
}

// Puts TeX into an element in place of its text; gives the element.
export function typesetLater(element, tex) {
    coming ??= begun.then(load);
    coming.then(
        () => globalThis.posencTypeset(tex, element),
        () => {}, // the text stays
    );
    return element;
}
