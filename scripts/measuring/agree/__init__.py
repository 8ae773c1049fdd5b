"""`lasw agree`: how well metrics agree with what people preferred, or with their marks."""
