/* Accept and Accept-Encoding: the quality that a header gives a media type or a coding. */
#ifndef API_ACCEPT_H
#define API_ACCEPT_H

/* The quality, from 0 to 1000, that an Accept value gives a media type, or that an
 * Accept-Encoding value gives a coding: the quality of the most specific range that matches, 0
 * if none does. NULL accepts everything. ret_specificity: 3 if that range names the type, 2 if
 * it names the type with a star as subtype, 1 if it matches everything, 0 if no range matches.
 */
unsigned api_accept_quality(const char *accept, const char *media_type, int *ret_specificity);

#endif
