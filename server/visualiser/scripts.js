// Scripts that the page asks for when they are needed: index.html has their addresses.
import {Problem} from './api.js';

const coming = new Map(); // by id

export const arrived = (element) =>
    new Promise((resolve, reject) => {
        element.addEventListener('load', resolve);
        element.addEventListener('error', () =>
            reject(new Problem({detail: `${element.src ?? element.href} did not come.`}, 0)),
        );
    });

function load(id) {
    const {src} = document.getElementById(id);
    const script = Object.assign(document.createElement('script'), {src});
    // on pages that are opened as files all scripts are plain
    if (document.querySelector('script[type=module]')) script.type = 'module';
    document.head.append(script);
    return arrived(script);
}

// Resolves when a script has run; asked for again after a failure.
export function scriptRun(id) {
    if (!coming.has(id))
        coming.set(
            id,
            load(id).catch((error) => {
                coming.delete(id);
                throw error;
            }),
        );
    return coming.get(id);
}
