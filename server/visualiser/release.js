// Which release of the service the page shows, how it runs, and where its source is.
import {serviceInfo} from './api.js';

const PLACES = {server: 'a server', module: 'this page, without a server'};

export async function showRelease(place, link) {
    const {form, source, version} = await serviceInfo();
    link.hidden = !/^https?:/.test(source ?? '');
    if (!link.hidden) link.href = source;
    place.textContent = `posenc ${version}, computed by ${PLACES[form]}`;
}
