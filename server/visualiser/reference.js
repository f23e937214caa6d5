// One operation of the interface in full, by Swagger UI: its parameters, to be tried, and its
// answers. docs.js loads this when the first operation is opened.
import SwaggerUI from 'swagger-ui-dist/swagger-ui-es-bundle.js';

// Swagger UI's own layout begins with a heading, a choice of servers and the version of
// OpenAPI, and each operation has a line to open it. Here the page has all of that.
function ownParts({React: {createElement: element}}) {
    function Operation({getComponent}) {
        const part = (name) => element(getComponent(name, true), {key: name});
        return element(
            'div',
            {className: 'swagger-ui'},
            part('SvgAssets'),
            part('AuthorizeBtnContainer'),
            part('errors'),
            part('operations'),
        );
    }
    return {components: {Operation, DeepLink: ({text}) => element('span', {}, text)}};
}

globalThis.posencReference = (spec, domNode) =>
    SwaggerUI({
        spec,
        domNode,
        displayRequestDuration: true,
        docExpansion: 'full',
        layout: 'Operation',
        plugins: [ownParts],
        syntaxHighlight: {theme: 'monokai'},
        tryItOutEnabled: true,
        validatorUrl: null, // asks nobody else
    });
