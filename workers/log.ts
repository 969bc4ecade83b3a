import pino from 'pino';

/** A log of JSON lines. Errors are logged with message and stack, also under `error`, the name in Temporal's SDK. */
export const createLog = (level: string, destination: pino.DestinationStream): pino.Logger =>
  pino({ level, serializers: { error: pino.stdSerializers.err } }, destination);
