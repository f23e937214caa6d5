// Which release of the service the page shows, and how it runs.
import {serviceInfo} from './api.js';

const PLACES = {server: 'a server', module: 'this page, without a server'};

export async function showRelease(place) {
    const {form, version} = await serviceInfo();
    place.textContent = `posenc ${version}, computed by ${PLACES[form]}`;
}
