import { openEmbedded } from '../../archive/duckdb';
import { openPostgres } from '../../archive/postgres';
import type { Archive } from '../../archive/port';

/** The archive in a file, or behind a URL of PostgreSQL. */
export const archiveAt = (place: string): Archive =>
  place.startsWith('postgres:') ? openPostgres(place) : openEmbedded(place);
