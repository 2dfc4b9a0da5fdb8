"""What all pages share: who may see them, forms, messages, navigation and rendering."""
