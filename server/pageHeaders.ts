/**
 * The headers of every page: nothing from elsewhere, and in no frame. With a stricter `referrer-policy`, browsers would
 * hide the origin of our own forms; this one keeps the code of a sign-in from other sites.
 */
export const PAGE_HEADERS = {
  'content-security-policy': "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'same-origin',
} as const;
