"use strict";Object.defineProperty(exports, "__esModule", { value: true });exports.describeTemporalState = describeTemporalState;exports.describeTlsMismatch = void 0;exports.tlsRemedy = tlsRemedy;var _text = await jitiImport("./text");

/**
 * The state of a Temporal server that did not serve a request: `mute` accepts connections but does not answer,
 * `answers` serves requests. `plain` has no TLS although the client uses it, `tls` requires TLS although the client
 * does not use it.
 */


/** One side uses TLS and the other does not. */


const describeTlsMismatch = (state) =>
state === 'plain' ?
'the server there speaks no TLS, and this client uses it' :
'the server there speaks only TLS, and this client does not use it';

/** Describes what was found at an address where a Temporal server should answer; `undefined`: nothing. */exports.describeTlsMismatch = describeTlsMismatch;
function describeTemporalState(address, state) {
  if (state === 'answers') return `the Temporal server at ${address} answers, but did not do this`;
  const none = `no Temporal server answers at ${address}`;
  if (state === undefined) return none;
  const found =
  state === 'mute' ?
  'something there accepts connections, but does not answer like Temporal' :
  describeTlsMismatch(state);
  return `${none}: ${found}`;
}

/** @param settings the settings of this client that decide whether it uses TLS */
function tlsRemedy(state, settings) {
  const one = settings.length === 1;
  const set = (0, _text.joinWords)([...settings], 'and');
  if (state === 'plain')
  return `${set} ${one ? 'turns' : 'turn'} TLS on: unset ${one ? 'it' : 'them'}, or set TEMPORAL_TLS=false; or check TEMPORAL_ADDRESS`;
  const off = settings.length === 0 ? '' : `, since ${set} ${one ? 'turns' : 'turn'} it off`;
  return `set TEMPORAL_TLS=true${off}; TEMPORAL_TLS_SERVER_CA_CERT_PATH names its authority, TEMPORAL_TLS_CLIENT_CERT_PATH and TEMPORAL_TLS_CLIENT_KEY_PATH the certificate that it may want; or check TEMPORAL_ADDRESS`;
} /* v9-2c2af6f75dfb73b5 */
