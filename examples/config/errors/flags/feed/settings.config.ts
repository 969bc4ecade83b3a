import { defineConfig } from 'conveyor/config';
import { settings } from './settings.schema';

export default defineConfig(settings, { soft: 50 });
