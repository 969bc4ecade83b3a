import pino from 'pino';

/** A log of JSON lines. What failed has its words and its stack, also under `error`, as Temporal's SDK names it. */
export const createLog = (level: string, destination: pino.DestinationStream): pino.Logger =>
  pino({ level, serializers: { error: pino.stdSerializers.err } }, destination);
